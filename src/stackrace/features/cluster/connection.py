"""The coordinator's end of a Dask cluster: the list of members, and calls to one member at a time.

On a member, Dask finds the called functions by their names, so both machines need the same version of stackrace.
"""

from __future__ import annotations

import asyncio
import logging
import math
import pickle
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Self, TypeVar, cast
from urllib.parse import urlsplit

from ...base.errors import BreakdownError, InputError, MissingError, StackraceError, said_by
from ...base.process import Background, Pending
from ...base.units import DURATION
from .members import ClockOffset, Member, Role, compare, introduce

_T = TypeVar("_T")

_CALLS = 64
"""Maximum of calls in progress on one worker."""
_POOL = ThreadPoolExecutor(_CALLS, thread_name_prefix="stackrace")


async def call(function: Callable[..., _T], *args: object) -> _T:
    """Call ``function`` on a worker in a thread, so that the worker's own loop continues meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, partial(function, *args))


async def now() -> float:
    """Return the worker's CLOCK_MONOTONIC, in seconds; at once, without a thread."""
    return time.monotonic()


def as_bytes(value: object) -> bytes:
    """Return ``value`` pickled by name, or by Dask, which is slower, if the member does not have that name.

    Objects of a user's own server have no name there. Neither have objects of ``__main__``, which is another module
    there.
    """
    with suppress(Exception):
        found = pickle.dumps(value)
        if b"__main__" not in found:
            return found
    from distributed.protocol.pickle import dumps

    taken: bytes = dumps(value)
    return taken


def pickled(value: _T) -> _T:
    """Return an object that becomes ``value`` on the machine that receives it, also inside other objects.

    It cannot be used here. It is pickled only once: a workload may contain hundreds of requests with their answers,
    and each engine gets the same.
    """
    return cast(_T, _Pickled(value))


class _Pickled:
    def __init__(self, value: object) -> None:
        self._bytes = as_bytes(value)

    def __reduce__(self) -> tuple[Callable[[bytes], object], tuple[bytes]]:
        return pickle.loads, (self._bytes,)


_INSTALL = "pip install 'stackrace[cluster]'"
_CLOCK_KEEPS_S = 10.0
"""Seconds for which a comparison of clocks holds. NTP slews by 500 ppm at most, 5 ms in this time: RFC 5905."""
CONNECT_S = 10.0
"""Seconds to wait for the scheduler, from the lookup of its name to its first answer."""
_INTRODUCE_S = 30.0
"""Seconds to wait until a member describes itself; it imports stackrace for that."""
_CALL, _NOW = as_bytes(call), as_bytes(now)
"""The two functions, pickled once for all calls."""


class MemberLost(BreakdownError):  # noqa: N818 (what happened, as its siblings say it)
    """A member, or the scheduler between it and us, no longer answers."""


class Connection:
    """A connection to the scheduler at ``address``, as in ``tcp://scheduler:8786``; a context manager.

    TLS is Dask's own: ``tls://scheduler:8786``, with the certificates of Dask's configuration. Raises
    MissingError without Dask, and InputError if no scheduler answers.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = _client(address)
        self._reached: set[str] = set()
        self._clocks: dict[str, ClockOffset] = {}
        self._shortest_s: dict[str, float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # the scheduler's last answer does not matter, and it may be gone
        with suppress(Exception):
            self._client.close(timeout=2)

    def members(self) -> tuple[Member, ...]:
        """Return the members with any role, by name, each with its clock compared to ours.

        Raises InputError, with the name, for a member without stackrace or out of reach.
        """
        members, errors = self.roll_call()
        for error in errors:
            raise error
        return members

    def roll_call(self) -> tuple[tuple[Member, ...], tuple[StackraceError, ...]]:
        """Return the ``members``, and an error for each of the others."""
        infos = self._workers()
        names = _names(infos)
        members, errors = [], []
        for contact in sorted(infos, key=names.__getitem__):
            offered = infos[contact].get("resources", {})
            if roles := frozenset(role for role in Role if offered.get(role.value, 0) > 0):
                try:
                    members.append(self._introduce(names[contact], contact, roles))
                except StackraceError as error:
                    errors.append(error)
        return tuple(members), tuple(errors)

    def call(self, member: Member, function: Callable[..., _T], *args: object) -> _T:
        """Return the result of ``function``, called once on ``member``, or raise its exception.

        Raises MemberLost if the member or the scheduler is lost meanwhile.
        """
        return self.begin(member, function, *args).finish()

    def begin(self, member: Member, function: Callable[..., _T], *args: object) -> Pending[_T]:
        """Start a ``call`` on the member; ``finish`` returns its result or raises its exception.

        No thread waits for it, so many members can be called at the same time.
        """
        return self._begin(member.name, member.contact, _CALL, as_bytes((function, *args)))

    def clock(self, member: Member) -> ClockOffset:
        """Return the offset of the member's clock, measured again if it is older than ``_CLOCK_KEEPS_S``."""
        known = self._clocks.get(member.contact)
        if known is None or time.monotonic() - known.taken_s > _CLOCK_KEEPS_S:
            known = self._compare_clocks(member.name, member.contact)
        return known

    def _compare_clocks(self, name: str, contact: str) -> ClockOffset:
        shortest_s = self._shortest_s.get(contact, 0.0)
        found = compare(lambda: self._begin(name, contact, _NOW).finish(), shortest_s)
        self._shortest_s[contact] = min(found.round_trip_s, shortest_s or math.inf)
        self._clocks[contact] = found
        return found

    def _workers(self) -> Mapping[str, Mapping[str, Any]]:
        try:
            # the client's own list is as old as its last heartbeat
            workers = self._client.sync(self._client.scheduler.identity, callback_timeout=CONNECT_S)["workers"]
        except Exception as error:
            raise MemberLost(f"the scheduler at {self.address} does not answer: {said_by(error)}") from error
        assert isinstance(workers, Mapping)
        return workers

    def _introduce(self, name: str, contact: str, roles: frozenset[Role]) -> Member:
        try:
            introduced = self._begin(name, contact, _CALL, as_bytes((introduce,)))
            if not introduced.wait(_INTRODUCE_S):
                raise self._lost_error(name, contact)
            said = introduced.finish()
        except ModuleNotFoundError as error:
            raise InputError(
                f"{name} ({contact}) has no stackrace; install the version that runs here on it: {_INSTALL}"
            ) from error
        clock = self._compare_clocks(name, contact)
        host = urlsplit(contact).hostname or ""
        return Member(name=name, contact=contact, host=host, roles=roles, clock=clock, **said)

    def _begin(self, name: str, contact: str, function: bytes, args: bytes = b"") -> Pending[Any]:
        """Start a call directly on the member, over a permanent connection: no other machine is involved.

        It is outside of Dask's task graph: such a call is made once, and never repeated elsewhere.
        """
        answer: Pending[Any] = Pending()

        async def ask() -> None:
            try:
                answer.settle(await self._call_member(name, contact, function, args))
            except BaseException as error:
                answer.settle(None, error)

        asking = ask()
        try:
            asyncio.run_coroutine_threadsafe(asking, self._client.loop.asyncio_loop)
        except RuntimeError as error:
            asking.close()
            raise self._lost_error(name, contact) from error
        return answer

    async def _call_member(self, name: str, contact: str, function: bytes, args: bytes) -> Any:
        try:
            answer = await self._client.rpc(contact).run(function=function, args=args)
        except (OSError, RuntimeError, asyncio.CancelledError) as error:
            raise self._lost_error(name, contact) from error
        self._reached.add(contact)
        if answer["status"] == "OK":
            return answer["result"]
        from distributed.core import clean_exception

        _, raised, traceback = clean_exception(**answer)
        assert raised is not None
        raise raised.with_traceback(traceback)

    def _lost_error(self, name: str, contact: str) -> StackraceError:
        if contact in self._reached:
            return MemberLost(f"{name} ({contact}) was lost: its connection is closed")
        return InputError(
            f"{name} ({contact}) is not reached from here; let its worker listen where this machine gets through, "
            "as in `dask worker --worker-port 9000`, and open that port in its firewall"
        )


def _client(address: str) -> Any:
    _require_address(address)
    try:
        import distributed
        from distributed.security import Security
    except ImportError as error:
        raise MissingError(f"--cluster needs Dask: {_INSTALL}") from error
    security = Security()
    _require_certificates(address, security)
    # errors are reported once, by us
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options = {"set_as_default": False, "name": "stackrace", "security": security}

    class Client(distributed.Client):
        def __del__(self) -> None:
            """Do nothing: Dask would wait for 20 s if the peer is silent."""

    def met() -> Any:
        # Dask waits forever for the peer's first message, and allocates whatever length that states
        _meet(address, security.get_connection_args("client")["ssl_context"])
        return Client(address, timeout=CONNECT_S, **options)  # type: ignore[no-untyped-call]

    # a name lookup cannot be cancelled; the thread ends with this process
    meeting = Background(met, daemon=True)
    try:
        if not meeting.wait(CONNECT_S):
            raise TimeoutError(f"nothing that Dask says within {DURATION.format(CONNECT_S)}")
        return meeting.finish()
    except Exception as error:
        # Dask puts its own object in front, as in "in <TCP …>: …"
        why = said_by(error).rpartition(">: ")[2] if isinstance(error, OSError) else "it speaks another protocol"
        way_out = (
            f"see that it runs, and that both certificates come from one authority: {_TLS} in Dask's configuration"
            if address.startswith("tls:")
            else "start one with `dask scheduler`, and give the address that it prints, as in tcp://10.0.0.1:8786, "
            "or tls://10.0.0.1:8786 of one with TLS"
        )
        raise InputError(f"--cluster {address}: no Dask scheduler answers there ({why}); {way_out}") from error


def _meet(address: str, tls: ssl.SSLContext | None) -> None:
    """Do Dask's handshake with a scheduler, but with messages of limited size, and ask for its identity.

    Raises OSError, ValueError or an exception of Dask's decoder if the peer is something else.
    """
    parts = urlsplit(address)
    assert parts.hostname and parts.port
    plain = socket.create_connection((parts.hostname, parts.port), CONNECT_S)
    with plain if tls is None else tls.wrap_socket(plain, server_hostname=parts.hostname) as peer:
        versions = {"python": sys.version_info[:3], "pickle-protocol": pickle.HIGHEST_PROTOCOL}
        for message in ({"compression": None, **versions}, {"op": "identity", "reply": True}):
            _send(peer, message)
            answer = _heard(peer)
        if not isinstance(answer, dict) or not isinstance(answer.get("workers"), dict):
            raise ValueError(answer)


_LARGEST_MESSAGE = 2**26
"""Bytes of a scheduler's answer, which has some kilobytes for each of its workers."""


def _send(peer: socket.socket, message: Mapping[str, object]) -> None:
    from distributed.protocol.core import dumps
    from distributed.protocol.utils import pack_frames

    frames = pack_frames(dumps(message))
    peer.sendall(struct.pack("Q", len(frames)) + frames)


def _heard(peer: socket.socket) -> Any:
    """Return the peer's next message; parts that only Dask could unpickle stay packed."""
    from distributed.protocol.core import loads
    from distributed.protocol.utils import unpack_frames

    def read(size: int) -> bytes:
        if size > _LARGEST_MESSAGE:
            raise ValueError(size)
        return stream.read(size)

    with peer.makefile("rb") as stream:
        (size,) = struct.unpack("Q", read(8))
        frames, others = unpack_frames(read(size), partial=True)
        return loads([*frames, *map(read, others)], deserialize=False)


def _require_certificates(address: str, security: Any) -> None:
    """Raise InputError if Dask's configuration and the address differ in TLS, because Dask would hang."""
    try:
        tls = security.get_connection_args("client")
    except OSError as error:
        raise InputError(
            f"--cluster {address}: the certificate or key in Dask's configuration, {_TLS}, cannot be used "
            f"({said_by(error, where=True)}); correct it there"
        ) from error
    if address.startswith("tls:") and tls["ssl_context"] is None:
        raise InputError(
            f"--cluster {address}: Dask's configuration has no certificate to show there; give {_TLS}.ca-file, "
            "client.cert and client.key, as in DASK_DISTRIBUTED__COMM__TLS__CA_FILE=/etc/dask/ca.pem"
        )
    if address.startswith("tcp:") and tls["require_encryption"]:
        raise InputError(
            f"--cluster {address}: Dask's configuration requires encryption, and that address has none; give one "
            "that begins with tls://"
        )


_TLS = "distributed.comm.tls"


def _require_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
    except ValueError:
        whole = None
    if not whole:
        raise InputError(
            f"--cluster {address}: that is no scheduler's address; give what `dask scheduler` prints, as in "
            "tcp://10.0.0.1:8786, or tls://10.0.0.1:8786"
        )


def _names(infos: Mapping[str, Mapping[str, Any]]) -> Mapping[str, str]:
    """Return the name of each worker; one without a name is named after its host if no other worker is there.

    Dask names such a worker by its address, whose port changes at each start.
    """
    hosts = [urlsplit(contact).hostname for contact in infos]
    return {
        contact: host if info["name"] == contact and host and hosts.count(host) == 1 else str(info["name"])
        for (contact, info), host in zip(infos.items(), hosts, strict=True)
    }
