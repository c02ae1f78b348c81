"""A gateway: servers of any age, written by anybody, at one endpoint for clients of any age.

options      what an operator says of one upstream
naming       what its tools, prompts and resources are called here
upstream     the connection to it, and what it offers; room, breaker and health bound and judge it
retries      calls to it that are made again
foreign      server objects of other SDKs in this process; adoption says what is lost of them
tools        its tools, in natural form; disclosure finds them by search
prompts      its prompts
resources    its resources and templates; suggestions completes the arguments of both
requests     one request to it, with what goes along; telemetry tells of it
questions    what it asks and logs while it works, on its way to the client that waits
subscriptions  what of its resources clients watch
catalogue    what upstreams offer, put together
vetting      what of it is withheld, by pins (digests, differences) and screening; shared_pins are
             those that replicas share
watching     what is written down of every request: audit and metrics
fleet        all upstreams, connected to once
endpoint     a server in front of them, or of one; paths has one of each over HTTP
gateway      all of it, as one thing to run; collection has its process collect less garbage
config       the same from a file, our TOML or the JSON that hosts use; settings are its other
             tables, and tables reads the values of both
"""

from __future__ import annotations

from anyshape.errors import ConfigError
from anyshape.gateway.audit import AuditLog, AuditOptions
from anyshape.gateway.breaker import BreakerOptions
from anyshape.gateway.config import GatewayConfig, load
from anyshape.gateway.gateway import Gateway, adopt
from anyshape.gateway.metrics import GatewayMetrics
from anyshape.gateway.options import RetryOptions, Upstream
from anyshape.gateway.pins import Pins, PinTerms
from anyshape.gateway.room import RoomOptions
from anyshape.gateway.vetting import ScreeningTerms, Vetting

__all__ = [
    "AuditLog",
    "AuditOptions",
    "BreakerOptions",
    "ConfigError",
    "Gateway",
    "GatewayConfig",
    "GatewayMetrics",
    "PinTerms",
    "Pins",
    "RetryOptions",
    "RoomOptions",
    "ScreeningTerms",
    "Upstream",
    "Vetting",
    "adopt",
    "load",
]
