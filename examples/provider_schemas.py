"""Lower a tool's schema for OpenAI's strict mode, and take a model's arguments back."""

from __future__ import annotations

from anyshape.providers import lower

PAYMENT = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "note": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["amount"],
    "additionalProperties": False,
    "not": {"required": ["note", "labels"]},
}

lowered = lower(PAYMENT, "openai-strict")
for name, schema in lowered.document["properties"].items():
    print(name, schema["type"])
for loss in lowered.losses:
    print("lost:", loss)

rewritten = lowered.rewrite({"amount": 5, "labels": {"team": "ops"}})
print(rewritten)
print(lowered.restore(rewritten))
