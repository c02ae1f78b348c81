"""References that leave the document: which of them the operator lets us fetch, and the fetching.

Off unless `compile` is given `remote=RemoteReferences(...)`: MCP 2026-07-28, basic, "`$ref`
Resolution", forbids fetching without opt-in and lists what the opt-in must bound. `vetting`
decides, `transfer` moves the bytes; docs/internals/remote-references.md gives the reasons.
"""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, NoReturn, TypeAlias, cast
from urllib.parse import urljoin

from anyshape.addresses import special_use
from anyshape.errors import LimitExceeded, UnresolvableReference
from anyshape.schema._remote.vetting import (
    Destination,
    Refused,
    admits,
    check_characters,
    read_entry,
    read_network,
    read_target,
    shorten,
)

if TYPE_CHECKING:
    import ssl

    from anyshape.schema._compile import Document

log = logging.getLogger("anyshape.schema")

Resolver: TypeAlias = Callable[[str, int], Sequence[str]]

_MAX_ADDRESSES = 8
_MAX_TIMEOUT = 3600
_MAX_INTEGER_DIGITS = 4300


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteReferences:
    """Permit `compile` to fetch the documents that a schema refers to, within these bounds.

    allow_hosts:     exact host names; `*.example.com` is every subdomain; `host:port` for a port
                     other than the scheme's own
    timeout:         seconds for everything one compilation fetches, name resolution included
    max_bytes:       bytes of all documents that one compilation fetches, together
    max_documents:   documents that one compilation fetches, however they refer to one another
    max_redirects:   redirects that are followed per document, each vetted like the first request
    allow_http:      permit plain http beside https
    allow_addresses: addresses or networks to permit although they are not public, such as
                     `("10.20.0.0/24",)` for an internal schema registry
    ssl_context:     certificates to trust instead of the system's; verification must be on
    resolve:         name resolution to use instead of the system's: (host, port) → addresses
    """

    allow_hosts: Sequence[str]
    timeout: float = 10.0
    max_bytes: int = 1_000_000
    max_documents: int = 32
    max_redirects: int = 3
    allow_http: bool = False
    allow_addresses: Sequence[str] = ()
    ssl_context: ssl.SSLContext | None = None
    resolve: Resolver | None = None

    def __post_init__(self) -> None:
        # A frozen value is made canonical once, here, so that equal settings compare equal.
        hosts = _read_each("allow_hosts", self.allow_hosts, read_entry)
        networks = _read_each("allow_addresses", self.allow_addresses, read_network)
        object.__setattr__(self, "allow_hosts", hosts)
        object.__setattr__(self, "allow_addresses", networks)
        if not hosts:
            raise ValueError("allow_hosts must name at least one host")
        for name, least in (("max_bytes", 1), ("max_documents", 1), ("max_redirects", 0)):
            value: object = getattr(self, name)
            if type(value) is not int or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}")
        timeout = cast("object", self.timeout)
        if not isinstance(timeout, int | float) or not 0 < timeout <= _MAX_TIMEOUT:
            raise ValueError(
                f"timeout must be more than 0 and at most {_MAX_TIMEOUT} seconds; got {timeout!r}"
            )
        context = self.ssl_context
        # A context that asks for no certificate cannot check names either.
        if context is not None and not context.check_hostname:
            raise ValueError(
                "ssl_context must check certificates and host names; this one does not"
            )


def _read_each(name: str, entries: object, read: Callable[[str], str]) -> tuple[str, ...]:
    """Return the setting `name` with every entry made canonical by `read`."""
    if isinstance(entries, str) or not isinstance(entries, Iterable):
        raise TypeError(f'{name} must be a sequence of strings, as in ("…",); got {entries!r}')
    canonical: list[str] = []
    for entry in cast("Iterable[object]", entries):
        if not isinstance(entry, str):
            raise TypeError(f"{name} must hold strings; got {entry!r}")
        try:
            canonical.append(read(entry))
        except ValueError as error:
            raise ValueError(f"{name}: {error}; got {shorten(entry)!r}") from None
    return tuple(dict.fromkeys(canonical))


class RemoteSession:
    """The fetching done for one compilation: its clock, its budgets and its log lines."""

    def __init__(self, remote: RemoteReferences) -> None:
        self._remote = remote
        self._ends = time.monotonic() + remote.timeout
        self._documents = 0
        self._bytes = 0
        self._tls = remote.ssl_context

    def fetch(self, uri: str) -> Document:
        """Return the document at `uri`.

        Raises `UnresolvableReference` naming the rule that refused it and how to allow it, or
        `LimitExceeded` naming the budget that ran out.
        """
        try:
            return self._fetch(uri)
        except Refused as refused:
            self._give_up(uri, refused)

    def _fetch(self, uri: str) -> Document:
        current = uri.partition("#")[0]
        target = self._vet(current)
        if self._documents >= self._remote.max_documents:
            raise Refused(
                "too many documents", limit="max_documents", found=self._remote.max_documents + 1
            )
        self._documents += 1
        for _ in range(self._remote.max_redirects + 1):
            body, location = self._request(current, target)
            if location is None:
                log.info("fetched %s: %d bytes", current, len(body))
                return _parse(body)
            current, target = self._follow(current, target, location)
        raise Refused(
            "too many redirects", limit="max_redirects", found=self._remote.max_redirects + 1
        )

    def _vet(self, uri: str) -> Destination:
        """Apply every rule that needs no network."""
        target = read_target(uri)
        if target.scheme == "http" and not self._remote.allow_http:
            raise Refused("it is not https; set RemoteReferences(allow_http=True) to allow http")
        if not any(admits(entry, target) for entry in self._remote.allow_hosts):
            raise Refused(
                f'host {target.authority} is not allowed; add "{target.authority}" to '
                "RemoteReferences(allow_hosts=…) to allow it"
            )
        return target

    def _follow(self, uri: str, origin: Destination, location: str) -> tuple[str, Destination]:
        """Vet the place a redirect points to, as if a schema had named it."""
        try:
            # Before joining, which would drop line breaks and tabs without a word.
            check_characters(location)
            joined = urljoin(uri, location).partition("#")[0]
            target = self._vet(joined)
            if (origin.scheme, target.scheme) == ("https", "http"):
                raise Refused("a redirect from https to http is never followed")
            return joined, target
        except ValueError:
            raise Refused(f"it redirects to {shorten(location)}: that is no URI") from None
        except Refused as refused:
            reason = f"it redirects to {shorten(location)}: {refused.reason}"
            raise Refused(reason) from None

    def _request(self, uri: str, target: Destination) -> tuple[bytes, str | None]:
        """Resolve once, vet every address, and talk to those addresses only."""
        # ssl and http.client are heavier than the rest of this package's own code.
        from anyshape.schema._remote import transfer

        if target.is_literal:
            addresses = [target.host]
        else:
            resolve = self._remote.resolve or transfer.resolve_name
            addresses = transfer.resolve_within(resolve, target, self._ends)
        for address in addresses:
            why = special_use(address, self._remote.allow_addresses)
            if why is not None:
                raise Refused(
                    f"host {target.host} has the address {shorten(address)}, which is not public: "
                    f"{why}; RemoteReferences(allow_addresses=…) can allow it"
                )
        addresses = addresses[:_MAX_ADDRESSES]
        log.info("fetching %s from %s", uri, ", ".join(addresses))
        if target.scheme == "https" and self._tls is None:
            self._tls = transfer.default_tls()
        answer = transfer.get(
            target,
            addresses,
            ends=self._ends,
            max_bytes=self._remote.max_bytes - self._bytes,
            tls=self._tls if target.scheme == "https" else None,
        )
        self._bytes += len(answer.body)
        return answer.body, answer.location

    def _give_up(self, uri: str, refused: Refused) -> NoReturn:
        """Turn a refusal into the one line the operator reads, and log it."""
        message = f"cannot fetch {shorten(uri)}: {refused.reason}"
        limit = refused.limit
        allowed: float = getattr(self._remote, limit) if limit else 0
        if limit:
            message += f" (RemoteReferences({limit}={allowed}) is the limit)"
        # Not a warning: the exception says it to the caller, this line is for the audit.
        log.info("%s", message)
        if not limit:
            raise UnresolvableReference(message, uri=uri) from refused
        raise LimitExceeded(
            message, limit=limit, allowed=ceil(allowed), found=refused.found
        ) from refused


def fetch_references(
    document: Document,
    remote: RemoteReferences,
    references_of: Callable[[Document, str], Iterable[str]],
) -> dict[str, Document]:
    """Fetch what `document` refers to, and what that refers to, until nothing is missing.

    `references_of(document, uri)` names the URIs that a document, the first of which has none,
    refers to and does not contain; fragments do not matter. The answer maps each URI as it was
    asked for, whatever it redirected to, to its document.
    """
    session = RemoteSession(remote)
    fetched: dict[str, Document] = {}
    waiting = deque([(document, "")])
    while waiting:
        referrer, base = waiting.popleft()
        for reference in references_of(referrer, base):
            uri = reference.partition("#")[0]
            if uri and uri not in fetched:
                fetched[uri] = session.fetch(uri)
                waiting.append((fetched[uri], uri))
    return fetched


def _parse(body: bytes) -> Document:
    """Read a schema document: RFC 8259 JSON whose root is an object or a boolean."""
    try:
        document: object = json.loads(
            body.decode("utf-8-sig"), parse_constant=_refuse_constant, parse_int=_parse_integer
        )
    except UnicodeDecodeError:
        raise Refused("its body is not UTF-8, so it is not JSON") from None
    except RecursionError:
        raise Refused("its body is nested too deeply to be read") from None
    except ValueError as error:
        raise Refused(f"its body is not JSON: {shorten(str(error))}") from None
    if not isinstance(document, (dict, bool)):
        raise Refused("its body is JSON but no schema: expected an object or a boolean at the root")
    return cast("Document", document)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _parse_integer(digits: str) -> int:
    # The interpreter has the same limit, which an environment variable can lift.
    if len(digits) > _MAX_INTEGER_DIGITS:
        raise ValueError(f"an integer of more than {_MAX_INTEGER_DIGITS} digits")
    return int(digits)
