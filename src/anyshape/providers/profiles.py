"""The profiles of the providers and engines that Anyshape knows, by name.

Rules are published by the provider, read in its SDK, or observed; `observed` says which. They
change: each is data, to be corrected in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from anyshape.providers.profile import AnyValue, Maps, PatternSupport, Profile, SizeBounds, Writing

_COMPOSITIONS: Final = frozenset(("anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"))
_ANNOTATIONS: Final = frozenset(("title", "description"))
_CORE: Final = (
    frozenset(("type", "properties", "required", "items", "enum", "anyOf", "$ref", "$defs"))
    | _ANNOTATIONS
)
_NUMBERS: Final = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
_LENGTHS: Final = frozenset(("minLength", "maxLength"))
_COUNTS: Final = frozenset(("minItems", "maxItems"))
_CLOSED: Final = frozenset(("additionalProperties",))
_OPENAI_FORMATS: Final = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_SCALARS: Final = frozenset(("string", "integer", "number", "boolean"))

_OPENAI = Profile(
    name="openai",
    about="OpenAI function tools with `strict: false`, in Chat Completions and Responses.",
    observed="openai 3.49.0 and API messages quoted in public, 2026-11",
    writing=Writing.KEPT,
    root_properties=True,
    root_refuses=_COMPOSITIONS,
    array_items_required=True,
)
_OPENAI_STRICT = Profile(
    name="openai-strict",
    about="OpenAI function tools with `strict: true`, and structured outputs.",
    observed="documentation, openai (npm) 7.53.0 and API messages quoted in public, 2026-11",
    fallback="openai",
    writing=Writing.REBUILT,
    keywords=_CORE | _NUMBERS | _LENGTHS | _COUNTS | _CLOSED | {"multipleOf", "pattern", "format"},
    root_properties=True,
    root_refuses=_COMPOSITIONS,
    closed=True,
    all_required=True,
    maps=Maps.PAIRS,
    any_value=AnyValue.TEXT,
    enum_kinds=_SCALARS,
    array_items_required=True,
    patterns=PatternSupport.REGULAR,
    formats=_OPENAI_FORMATS,
    bounds=SizeBounds(
        properties=5_000, levels=10, enum_values=1_000, characters=120_000, enum_characters=15_000
    ),
)
_ANTHROPIC = Profile(
    name="anthropic",
    about="Tools of Anthropic's Messages API without `strict`.",
    observed="API messages quoted in public, 2026-08; litellm 1.106.2",
    writing=Writing.KEPT,
    root_refuses=_COMPOSITIONS,
    tool_names="[A-Za-z0-9_-]{1,128}",
    property_names="[A-Za-z0-9_.-]{1,64}",
    root_names_only=True,
)
_ANTHROPIC_STRICT = Profile(
    name="anthropic-strict",
    about="Tools of Anthropic's Messages API with `strict: true`.",
    observed="documentation, anthropic 2.8.0 and API messages quoted in public, 2026-08",
    fallback="anthropic",
    writing=Writing.REBUILT,
    keywords=_CORE | _CLOSED | {"pattern", "format", "minItems", "default"},
    root_refuses=_COMPOSITIONS,
    tool_names="[A-Za-z0-9_-]{1,128}",
    property_names="[A-Za-z0-9_.-]{1,64}",
    root_names_only=True,
    closed=True,
    maps=Maps.PAIRS,
    any_value=AnyValue.TEXT,
    enum_kinds=_SCALARS,
    untyped_enums=True,
    recursion=False,
    patterns=PatternSupport.REGULAR,
    formats=_OPENAI_FORMATS | {"uri"},
    most_min_items=1,
    bounds=SizeBounds(optional=10, unions=8),
)
_GEMINI = Profile(
    name="gemini",
    about="`parameters` of Gemini's function declarations, on the Developer API and on Vertex.",
    observed="google-genai 3.1.0 and a probe of Vertex keyword by keyword, 2026-09",
    writing=Writing.REBUILT,
    keywords=(_CORE - {"$ref", "$defs"})
    | _COUNTS
    | _LENGTHS
    | {"minimum", "maximum", "pattern", "format", "title", "default", "nullable"}
    | {"minProperties", "maxProperties"},
    root_refuses=_COMPOSITIONS,
    tool_names="[A-Za-z_][A-Za-z0-9_.:-]{0,127}",
    property_names="[A-Za-z_][A-Za-z0-9_]{0,63}",
    maps=Maps.PAIRS,
    type_lists=False,
    nullable=True,
    union_siblings=False,
    enum_kinds=frozenset(("string",)),
    empty_enum_strings=False,
    array_items_required=True,
    recursion=False,
    patterns=PatternSupport.REGULAR,
    formats=frozenset(("date-time",)),
    bounds=SizeBounds(levels=15),
)
_GEMINI_JSON = Profile(
    name="gemini-json",
    about="`parametersJsonSchema` of Gemini's function declarations.",
    observed="keyword list documented in google-genai 3.1.0, 2026-11",
    writing=Writing.REBUILT,
    keywords=_CORE
    | _COUNTS
    | _CLOSED
    | {"minimum", "maximum", "prefixItems", "title", "format", "default"},
    root_refuses=_COMPOSITIONS,
    tool_names="[A-Za-z_][A-Za-z0-9_.:-]{0,127}",
    enum_kinds=frozenset(("string", "integer", "number")),
    false_items=False,
    guarded_recursion=True,
    formats=frozenset(("date-time", "date", "time")),
    bounds=SizeBounds(levels=15),
)
_BEDROCK = replace(
    _ANTHROPIC,
    name="bedrock",
    about="Tools of Amazon Bedrock's Converse API, for Claude and models alike.",
    observed="botocore 1.44.0",
    tool_names="[A-Za-z0-9_-]{1,64}",
)
_BEDROCK_NOVA = replace(
    _GEMINI_JSON,
    name="bedrock-nova",
    about="Tools of Amazon Bedrock's Converse API, for Nova, whose root holds three keywords.",
    observed="documentation of Nova 1",
    keywords=_CORE - {"$ref", "$defs"} | _COUNTS | _NUMBERS | _LENGTHS | _CLOSED | {"pattern"},
    root_keywords=frozenset(("type", "properties", "required")),
    tool_names="[A-Za-z0-9_-]{1,64}",
    recursion=False,
    guarded_recursion=False,
    enum_kinds=_SCALARS,
    bounds=SizeBounds(),
)
_MISTRAL = replace(
    _OPENAI,
    name="mistral",
    about="Function tools of Mistral's chat API, `strict` off.",
    observed="mistralai 3.7.0, litellm 1.106.2; the subset is not published",
)
_GROQ = replace(
    _OPENAI,
    name="groq",
    about="Function tools of Groq, which checks the model's arguments against the schema.",
    observed="API messages quoted in public, 2026-11",
    nulls_for_optional=True,
)
_XAI = Profile(
    name="xai",
    about="Function tools of xAI, where strict is always on.",
    observed="documentation, 2026-11",
    writing=Writing.REBUILT,
    keywords=_CORE
    | _NUMBERS
    | _LENGTHS
    | _COUNTS
    | _CLOSED
    | {"multipleOf", "pattern", "format", "title", "default"},
    root_refuses=_COMPOSITIONS,
    openness_written=True,
    enum_kinds=_SCALARS,
    recursion=False,
    array_items_required=True,
    patterns=PatternSupport.REGULAR,
    formats=_OPENAI_FORMATS - {"duration"},
    largest_count=256,
)
_DEEPSEEK = replace(
    _OPENAI_STRICT,
    name="deepseek",
    about="Function tools of DeepSeek's beta API, all `strict: true`; elsewhere it takes `openai`.",
    observed="@ai-sdk/deepseek 3.0.56, rig-core 0.46.0",
    fallback=None,  # one tool that is not strict costs the request
    formats=frozenset(("email", "hostname", "ipv4", "ipv6", "uuid")),
    bounds=SizeBounds(),
)
_ENGINE = Profile(
    name="",
    about="",
    writing=Writing.REBUILT,
    keywords=_CORE | _COUNTS | _LENGTHS | _CLOSED | {"default"},
    root_refuses=_COMPOSITIONS,
    openness_written=True,
)
_XGRAMMAR = replace(
    _ENGINE,
    name="xgrammar",
    about="xgrammar, the usual grammar backend of vLLM and SGLang.",
    observed="run: xgrammar 0.2.8; read: vLLM a014e35, SGLang cce0a12",
    # A string whose length it counts has no quote, backslash or newline.
    keywords=(_ENGINE.keywords - _LENGTHS) | _NUMBERS | {"pattern", "format", "prefixItems"},
    open_tuples=False,
    patterns=PatternSupport.LITERAL,
    lengths_beside_pattern=False,
    formats=frozenset(("date", "uuid")),  # of times it has no small letters
    largest_bound=2**53,
    prefix_definitions=True,
)
_LLGUIDANCE = replace(
    _ENGINE,
    name="llguidance",
    about="llguidance, of Guidance, vLLM, SGLang, llama.cpp and others.",
    observed="run: llguidance 1.9.1",
    keywords=_ENGINE.keywords
    | _NUMBERS
    | {"multipleOf", "pattern", "format", "prefixItems", "patternProperties"}
    | {"minProperties", "maxProperties"},
    patterns=PatternSupport.REGULAR,
    lengths_beside_pattern=False,
    formats=(_OPENAI_FORMATS - {"email", "ipv6"}) | {"uri"},  # of those two it has not all
    largest_bound=2**53,
)
_OUTLINES = replace(
    _ENGINE,
    name="outlines",
    about="outlines-core, a backend of vLLM and of Outlines.",
    observed="run: outlines-core 0.2.14",
    # It writes definitions out wherever they are referred to, and drops what is four of them deep.
    keywords=(_ENGINE.keywords - {"$ref", "$defs"}) | {"pattern", "format"},
    openness_written=False,
    # Neither these names nor those in listed objects are written as JSON writes them.
    property_names='[^"\\\\\\x00-\\x1f]{0,128}',
    enum_kinds=_SCALARS,
    closed=True,
    maps=Maps.ALONE,
    any_value=AnyValue.TEXT,
    recursion=False,
    patterns=PatternSupport.LITERAL,
    lengths_beside_pattern=False,
    formats=frozenset(("date",)),  # its times have no offset, its uuids no capitals
    largest_count=200,  # its automaton has a state for each: thousands take minutes to build
    bounds=SizeBounds(expression=150_000),  # some 60,000 states, which take it seconds
)
_LLAMA_CPP = replace(
    _ENGINE,
    name="llama.cpp",
    about="llama.cpp's own converter from JSON Schema to grammars.",
    observed="run: llama.cpp b21e4de",
    keywords=_ENGINE.keywords | {"minimum", "maximum", "pattern", "format"},
    property_names='(?!\\$ref$)[^"\\\\]{1,128}',
    any_value=AnyValue.TEXT,
    patterns=PatternSupport.LITERAL,
    lengths_beside_pattern=False,
    formats=frozenset(("date", "uuid")),  # its times have three digits of a second, or none
    largest_bound=10**15,
    largest_count=500,
)

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            *(_OPENAI, _OPENAI_STRICT, _ANTHROPIC, _ANTHROPIC_STRICT, _GEMINI, _GEMINI_JSON),
            *(_BEDROCK, _BEDROCK_NOVA, _MISTRAL, _GROQ, _XAI, _DEEPSEEK),
            *(_XGRAMMAR, _LLGUIDANCE, _OUTLINES, _LLAMA_CPP),
        )
    }
)
"""Every profile by its name."""


def find_profile(profile: Profile | str) -> Profile:
    """Return a profile by its name, or as it is; `ValueError` lists the names that there are."""
    if isinstance(profile, Profile):
        return profile
    found = PROFILES.get(profile)
    if found is None:
        raise ValueError(f"expected a profile, one of {', '.join(PROFILES)}; got {profile!r}")
    return found
