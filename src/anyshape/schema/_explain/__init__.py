"""Why a value breaks a schema. Loaded when the first value does.

explainer     the loop that looks for problems, with a budget
walk          schema and value walked together, keyword by keyword, to where something fails
alternatives  which of an `anyOf` or `oneOf` came closest
unevaluated   what the subschemas at a place have evaluated
leaves        keywords that judge a value by itself
verdicts      which subschemas hold, asked of the engine
knowledge     what is known about that while one value is explained
places        the places of that value, and what was found at each
plans         what is known about a subschema before any value is seen
"""

from __future__ import annotations

from anyshape.schema._explain.explainer import Explainer

__all__ = ["Explainer"]
