"""A gateway: servers of any age, written by anybody, at one endpoint for clients of any age.

options      what an operator says of one upstream
naming       what its tools, prompts and resources are called here
upstream     the connection to it, and what it offers
tools        its tools, in natural form
prompts      its prompts
resources    its resources and templates
gateway      all of it behind one server
foreign      server objects of other SDKs in this process
config       the same from a file: our TOML, or the JSON that hosts use
"""

from __future__ import annotations

from anyshape.gateway.config import ConfigError, GatewayConfig, load
from anyshape.gateway.gateway import Gateway, adopt
from anyshape.gateway.options import Upstream

__all__ = ["ConfigError", "Gateway", "GatewayConfig", "Upstream", "adopt", "load"]
