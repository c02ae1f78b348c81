"""The words of each provider's API: how a tool is defined, and how its result is given back.

Each format is what the provider's own Python SDK takes, as plain dicts. Where an SDK takes bytes
and encodes them itself (google-genai, boto3), so do we.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from anyshape.agents.calls import ToolCall
from anyshape.agents.outcome import Outcome, Picture
from anyshape.providers import Profile, Writing

FormatName: TypeAlias = Literal[
    "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "plain"
]
"""The names of the formats."""

WireObject: TypeAlias = dict[str, Any]
_IMAGES: Final = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool as a model is to see it, in nobody's words yet."""

    name: str
    description: str
    document: WireObject
    profile: Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How one API writes definitions and results."""

    name: FormatName
    define: Callable[[Definition], WireObject]
    answer: Callable[[ToolCall, Outcome], WireObject]
    pictures: frozenset[str] = frozenset()
    """The media types of images that a result can hold."""
    pictures_of_failures: bool = True
    """Whether a result that is marked as an error may hold them."""
    gather: Callable[[list[WireObject]], list[WireObject]] = list
    """From all definitions to what the request has."""
    follow: Callable[[Sequence[tuple[ToolCall, Outcome]]], list[WireObject]] = lambda _: []
    """What comes after all results of a turn, to show what they cannot hold."""

    def shown(self, outcome: Outcome, *, images: bool) -> Outcome:
        """Return an outcome whose pictures a result can hold; the others are in words."""
        images = images and (self.pictures_of_failures or not outcome.is_error)
        parts = tuple(
            str(part)
            if isinstance(part, Picture) and not (images and part.media_type in self.pictures)
            else part
            for part in outcome.parts
        )
        return Outcome(parts, outcome.is_error)


def format_for(profile: Profile, name: FormatName | None) -> Format:
    """Return the format of that name, or the one that goes with a profile."""
    wanted = name or _USUAL.get(profile.name)
    if wanted is None:
        raise ValueError(
            f"profile {profile.name!r} goes with no format that is known; "
            f"say format=, one of {', '.join(FORMATS)}"
        )
    if wanted not in FORMATS:
        raise ValueError(f"expected a format, one of {', '.join(FORMATS)}; got {wanted!r}")
    return FORMATS[wanted]


# Parts that several have.


def _texts(outcome: Outcome) -> str:
    """Return an outcome in words, for formats that have no mark for errors."""
    text = outcome.text
    marked = text[:5].lower() == "error"
    return f"Error: {text}" if outcome.is_error and not marked else text


def _url(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{_base64(picture)}"


def _base64(picture: Picture) -> str:
    return base64.b64encode(picture.data).decode("ascii")


def _with_id(key: str, call: ToolCall) -> WireObject:
    return {} if call.id is None else {key: call.id}


# OpenAI, and all who speak its chat format.


def _function(definition: Definition) -> WireObject:
    # Responses turns strict on where it is left out.
    return {
        **_plain_definition(definition),
        "strict": definition.profile.writing is Writing.REBUILT,
    }


def _chat_answer(call: ToolCall, outcome: Outcome) -> WireObject:
    return {"role": "tool", **_with_id("tool_call_id", call), "content": _texts(outcome)}


def _chat_follow(answered: Sequence[tuple[ToolCall, Outcome]]) -> list[WireObject]:
    """Return one message of the user with all images: messages of tools hold text alone."""
    parts: list[WireObject] = []
    for call, outcome in answered:
        urls = [_url(it) for it in outcome.pictures if it.media_type in _IMAGES]
        if urls:
            parts.append({"type": "text", "text": f"Images that {call.name} returned:"})
            parts += [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [{"role": "user", "content": parts}] if parts else []


def _responses_answer(call: ToolCall, outcome: Outcome) -> WireObject:
    output: str | list[WireObject] = _texts(outcome)
    if outcome.pictures:
        output = [
            {"type": "input_image", "image_url": _url(part)}
            if isinstance(part, Picture)
            else {"type": "input_text", "text": part}
            for part in outcome.parts
        ]
        if outcome.is_error:
            output.insert(0, {"type": "input_text", "text": "Error:"})
    return {"type": "function_call_output", **_with_id("call_id", call), "output": output}


# Anthropic.


def _anthropic_definition(definition: Definition) -> WireObject:
    found: WireObject = {
        "name": definition.name,
        "description": definition.description,
        "input_schema": definition.document,
    }
    if definition.profile.closed:
        found["strict"] = True
    return found


def _anthropic_answer(call: ToolCall, outcome: Outcome) -> WireObject:
    content: list[WireObject] = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": part.media_type, "data": _base64(part)},
        }
        if isinstance(part, Picture)
        else {"type": "text", "text": part}
        for part in outcome.parts
    ]
    answer = {"type": "tool_result", **_with_id("tool_use_id", call), "content": content}
    return {**answer, "is_error": True} if outcome.is_error else answer


# Gemini.


def _gemini_definition(definition: Definition) -> WireObject:
    found: WireObject = {"name": definition.name, "description": definition.description}
    if not definition.profile.nullable:
        found["parametersJsonSchema"] = definition.document
    elif definition.document.get("properties"):  # an object without any is refused
        found["parameters"] = definition.document
    return found


def _gemini_gather(definitions: list[WireObject]) -> list[WireObject]:
    return [{"functionDeclarations": definitions}] if definitions else []


def _gemini_answer(call: ToolCall, outcome: Outcome) -> WireObject:
    texts = [part for part in outcome.parts if isinstance(part, str)]
    said = "\n".join(texts) or "see the image"
    response: WireObject = {
        **_with_id("id", call),
        "name": call.name,
        "response": {"error" if outcome.is_error else "output": said},
    }
    if outcome.pictures:
        response["parts"] = [
            {"inlineData": {"mimeType": picture.media_type, "data": picture.data}}
            for picture in outcome.pictures
        ]
    return {"functionResponse": response}


# Amazon Bedrock.


def _bedrock_definition(definition: Definition) -> WireObject:
    found: WireObject = {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": {"json": definition.document},
    }
    if definition.profile.closed:
        found["strict"] = True
    return {"toolSpec": found}


def _bedrock_answer(call: ToolCall, outcome: Outcome) -> WireObject:
    content: list[WireObject] = [
        {"image": {"format": part.media_type.partition("/")[2], "source": {"bytes": part.data}}}
        if isinstance(part, Picture)
        else {"text": part}
        for part in outcome.parts
    ]
    status = "error" if outcome.is_error else "success"
    return {"toolResult": {**_with_id("toolUseId", call), "content": content, "status": status}}


# Nobody's in particular.


def _plain_definition(definition: Definition) -> WireObject:
    return {
        "name": definition.name,
        "description": definition.description,
        "parameters": definition.document,
    }


def _plain_answer(call: ToolCall, outcome: Outcome) -> WireObject:
    told = {"name": call.name, "content": outcome.text, "is_error": outcome.is_error}
    return {**_with_id("id", call), **told}


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        it.name: it
        for it in (
            Format(
                name="openai-chat",
                define=lambda it: {"type": "function", "function": _function(it)},
                answer=_chat_answer,
                follow=_chat_follow,
            ),
            Format(
                name="openai-responses",
                define=lambda it: {"type": "function", **_function(it)},
                answer=_responses_answer,
                pictures=_IMAGES,
            ),
            Format(
                name="anthropic",
                define=_anthropic_definition,
                answer=_anthropic_answer,
                pictures=_IMAGES,
                pictures_of_failures=False,  # Claude's API then takes nothing but text
            ),
            Format(
                name="gemini",
                define=_gemini_definition,
                gather=_gemini_gather,
                answer=_gemini_answer,
                pictures=_IMAGES - {"image/gif"},
            ),
            Format(
                name="bedrock",
                define=_bedrock_definition,
                answer=_bedrock_answer,
                pictures=_IMAGES,
                pictures_of_failures=False,  # Claude's API then takes nothing but text
            ),
            Format(
                name="mistral",
                define=lambda it: {"type": "function", "function": _function(it)},
                answer=lambda call, outcome: {**_chat_answer(call, outcome), "name": call.name},
            ),
            Format(name="plain", define=_plain_definition, answer=_plain_answer),
        )
    }
)
"""Every format by its name."""

assert tuple(FORMATS) == get_args(FormatName)

_USUAL: Final = {
    **dict.fromkeys(("openai", "openai-strict", "groq", "xai", "deepseek"), "openai-chat"),
    **dict.fromkeys(("xgrammar", "llguidance", "outlines", "llama.cpp"), "openai-chat"),
    **dict.fromkeys(("anthropic", "anthropic-strict"), "anthropic"),
    **dict.fromkeys(("gemini", "gemini-json"), "gemini"),
    **dict.fromkeys(("bedrock", "bedrock-nova"), "bedrock"),
    "mistral": "mistral",
}
"""The format that goes with each profile; engines are asked in OpenAI's chat format."""
