"""Requests to the service: the token, the catalogue, the days, a day's report."""

import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import IO, Any, TypeVar, cast

import requests
import requests.auth

DAYS_AT_ONCE = 400
TRIES = 5
RETRIED = {429, 500, 502, 503, 504}
TIMEOUT_S = 60
# A client may wait 35 minutes for a very large report, in redirects of about 25 s each.
MAX_REDIRECTS = 100
# A token is renewed this many seconds before it expires.
MARGIN_S = 60
LONGEST_WAIT_S = 600.0

Parameters = Mapping[str, str | Sequence[str]]
T = TypeVar("T")


def shown(text: object) -> str:
    """Text for a terminal: what would move its cursor or turn the direction of writing is replaced by its code."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


class ServiceError(Exception):
    """A request to the service or the identity provider failed. The message has a cure, but no link and no token."""

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(map(shown, message.split("\n"))))


class ServiceProblem(ServiceError):
    """The answer to a request has an error status. The members are those of the problem document (RFC 9457)."""

    def __init__(self, what: str, answer: requests.Response) -> None:
        try:
            body = answer.json()
        except (requests.RequestException, ValueError, RecursionError):
            body = None
        document: dict[str, Any] = body if isinstance(body, dict) else {}
        # The identity provider names a fault in `error` and `error_description`, as in OAuth (RFC 6749).
        self.status = answer.status_code
        self.title = str(document.get("title") or document.get("error") or answer.reason)
        self.detail: str | None = document.get("detail") or document.get("error_description")
        self.request_id: str | None = document.get("instance") or answer.headers.get("x-amzn-RequestId")
        errors = document.get("errors")
        listed = errors if isinstance(errors, list) else []
        self.errors: list[dict[str, str]] = [error for error in listed if isinstance(error, dict)]
        lines = [f"{what}: {self.status} {self.title}" + (f". {self.detail}" if self.detail else "")]
        lines += [f"  {error.get('parameter', '')}: {error.get('detail', '')}" for error in self.errors]
        if self.request_id:
            lines.append(f"  The operator finds this request by {self.request_id}")
        super().__init__("\n".join(map(shown, lines)))


@dataclass(frozen=True)
class Day:
    """A day in the answer of `/days`. Its two bounds are sent back unchanged as the report's window."""

    day: str
    start_inclusive: str
    end_exclusive: str
    is_final: bool
    version: str


@dataclass(frozen=True)
class DayReport:
    """A day's CSV and its data version. The version is None if the day may have changed while it was read."""

    csv: IO[bytes]
    size: int
    version: str | None


class Service:
    """A client of the service. It uses one token until shortly before the token expires."""

    def __init__(
        self, *, api_url: str, token_url: str, client_id: str, client_secret: str, scope: str
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self.client_id = client_id
        self._token_url = token_url
        self._grant = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": client_secret,
            "scope": scope,
        }
        self._session = requests.Session()
        self._session.max_redirects = MAX_REDIRECTS
        self._token = ""
        self._good_until = 0.0

    @classmethod
    def from_environment(cls) -> "Service":
        names = ("API_URL", "TOKEN_URL", "CLIENT_ID", "CLIENT_SECRET", "SCOPE")
        missing = [name for name in names if not os.environ.get(name)]
        if missing:
            raise ServiceError(f"Set in the environment: {', '.join(missing)}. Your operator has the values.")
        return cls(**{name.lower(): os.environ[name] for name in names})

    def fields(self, report: str) -> dict[str, str]:
        """The type of each field of a report, from the public catalogue."""
        reports = self._get("/reporting/fields", {}, _catalogue, is_public=True)
        if report not in reports:
            raise ServiceError(f'There is no report "{report}". There are: {", ".join(reports)}.')
        return reports[report]

    def days(self, report: str, start: date, end: date) -> list[Day]:
        """The days with events from `start` on and before `end`."""
        days: list[Day] = []
        while start < end:
            stop = min(start + timedelta(days=DAYS_AT_ONCE), end)
            window = {
                "startInclusive": f"{start.isoformat()}T00:00:00Z",
                "endExclusive": f"{stop.isoformat()}T00:00:00Z",
            }
            days += self._get(f"/reporting/{report}/days", window, _days)
            start = stop
        return days

    def pull(self, report: str, query: Parameters, day: Day) -> DayReport:
        """One day's report. The caller closes its file."""
        window = {"startInclusive": day.start_inclusive, "endExclusive": day.end_exclusive}
        return self._get(f"/reporting/{report}", {**query, **window}, _saved)

    def _authorization(self) -> "_Bearer":
        if time.monotonic() > self._good_until:
            body = self._asked(
                "The token",
                # A redirect would send the secret on to another host.
                lambda: self._session.post(
                    self._token_url, data=self._grant, timeout=TIMEOUT_S, allow_redirects=False
                ),
                lambda answer: answer.json(),
            )
            token = body.get("access_token") if isinstance(body, dict) else None
            # An error about a header that can't be sent would quote the token.
            if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token):
                raise ServiceError("The token: the answer has no access_token that can be sent. Is TOKEN_URL right?")
            self._token = token
            # Some identity providers send the number as text.
            seconds = str(body.get("expires_in"))
            life = int(seconds) if re.fullmatch(r"[0-9]{1,9}", seconds) else 300
            self._good_until = time.monotonic() + life - MARGIN_S
        return _Bearer(self._token)

    def _get(
        self, path: str, parameters: Parameters, use: Callable[[requests.Response], T], is_public: bool = False
    ) -> T:
        def send() -> requests.Response:
            return self._session.get(
                self.api_url + path,
                params={**parameters, "api-version": "1.0"},
                auth=None if is_public else self._authorization(),
                timeout=TIMEOUT_S,
                stream=True,
            )

        return self._asked(path, send, use)

    def _asked(
        self, what: str, send: Callable[[], requests.Response], use: Callable[[requests.Response], T]
    ) -> T:
        """Returns `use(answer)`. Retries the statuses in RETRIED, an expired link, a 401 once with a new token, and a
        connection that fails or breaks off.
        """
        fault = ServiceError(what)
        is_renewed = False
        for attempt in range(1, TRIES + 1):
            wait = 2.0 ** (attempt - 1)
            try:
                with send() as answer:
                    if answer.status_code == 200:
                        return use(answer)
                    if answer.is_redirect:
                        fault = ServiceError(f"{what}: a redirect, {answer.status_code}. Set the address that it leads to.")
                        break
                    fault = ServiceProblem(what, answer)
                    if answer.status_code == 401 and not is_renewed and "Authorization" in answer.request.headers:
                        self._good_until, wait, is_renewed = 0.0, 0.0, True
                    # If a link has expired meanwhile, the store answers 403. The next attempt gets a new link.
                    elif answer.status_code not in RETRIED and not (answer.history and answer.status_code == 403):
                        break
                    wait = _retry_after(answer, wait)
            except ServiceError as error:
                fault = error
                break
            except requests.RequestException as error:
                # The error's text contains the presigned link or the query, so only the name of its class is shown.
                kind = type(error).__name__
                fault = ServiceError(f"{what}: {kind}. Is the address right, and can this machine reach it?")
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
                fault = ServiceError(f"{what}: the answer has another form than expected. Is the address right?")
                break
            if attempt < TRIES:
                # A random extra wait, so that clients refused at the same moment do not retry at the same moment.
                time.sleep(wait + random.uniform(0, min(wait, 5)))
        # Not raised in an `except` block: the fault's `__context__` would then be an exception that shows a link.
        raise fault


class _Bearer(requests.auth.AuthBase):
    """Sets the header `Authorization` by requests' parameter `auth`. If it were set in `headers`, requests would
    replace it with credentials from ~/.netrc if that file has an entry for the host.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _catalogue(answer: requests.Response) -> dict[str, dict[str, str]]:
    return {
        str(report["name"]): {str(field["name"]): str(field["type"]) for field in report["fields"]}
        for report in answer.json()["reports"]
    }


def _days(answer: requests.Response) -> list[Day]:
    return [
        Day(
            day=date.fromisoformat(day["day"]).isoformat(),
            start_inclusive=str(day["startInclusive"]),
            end_exclusive=str(day["endExclusive"]),
            is_final=day["state"] == "final",
            version=str(day["version"]),
        )
        for day in answer.json()["days"]
    ]


def _saved(answer: requests.Response) -> DayReport:
    # The CSV is saved to a file first. If the download breaks off, it is repeated before dlt has read any row.
    csv = cast(IO[bytes], tempfile.TemporaryFile())
    try:
        size = sum(csv.write(chunk) for chunk in answer.iter_content(1 << 20))
    except BaseException:
        csv.close()
        raise
    csv.seek(0)
    # The redirect to the file names the version of its data.
    versions = [hop.headers["Data-Version"] for hop in answer.history if "Data-Version" in hop.headers]
    return DayReport(csv, size, versions[-1] if versions else None)


def _retry_after(answer: requests.Response, otherwise: float) -> float:
    header = answer.headers.get("Retry-After", "")
    return min(float(header), LONGEST_WAIT_S) if header.isascii() and header.isdigit() else otherwise
