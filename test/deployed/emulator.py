"""
Starts MiniStack, an AWS emulator by others, for the lane of deployed tests.

An adaptation replaces a part of the emulator that differs from AWS. All adaptations are in this file, each with its
reason; nothing in lib/, functions/ or infra/ knows of the emulator. An adaptation fails at the start when the part that
it replaces is gone, so that an adaptation that is no longer needed is noticed.
"""

import asyncio
import http.client
import json
import os
import re
import ssl
import threading
from contextvars import ContextVar
from decimal import Decimal
from urllib.parse import urlsplit

import faults
from ministack import app
from ministack.core import iam_actions
from ministack.core.concurrency import run_reentrant
from ministack.services import apigateway_v1, athena, cloudfront, cognito, eventbridge, lambda_svc, s3, secretsmanager
from ministack.services.cloudformation import provisioners

ENDPOINT = os.environ["LANE_ENDPOINT"]


def adaptation(reason):
    """Applies an adaptation. The function's name says what the adaptation does, `reason` says why."""
    return lambda apply: apply()


def replace(module, name, make):
    """Replaces a function of the emulator by `make(original)`."""
    original = getattr(module, name)
    setattr(module, name, make(original))


# --- CloudFormation: resource types and properties that the emulator does not know ---


def recorded_only(kind):
    """Adds a resource type. The emulator then accepts its resources in templates, but they do nothing."""
    if kind in provisioners._RESOURCE_HANDLERS:
        raise SystemExit(f"The emulator knows {kind}: remove the adaptation.")

    def create(logical_id, props, stack_name):
        return f"{stack_name}-{logical_id}", {"Arn": f"arn:aws:lane:::{stack_name}-{logical_id}"}

    def update(physical_id, old_props, new_props, *_):
        return physical_id, {"Arn": f"arn:aws:lane:::{physical_id}"}

    provisioners._RESOURCE_HANDLERS[kind] = {
        "create": create,
        "update": update,
        "delete": lambda physical_id, props: None,
    }


# Resources that the lane needs for nothing but the template: no firewall is asked, nothing is backed up, nobody asks the
# saved questions, and no alarm is evaluated.
for kind in (
    "AWS::WAFv2::WebACLAssociation",
    "AWS::Backup::BackupSelection",
    "AWS::Logs::QueryDefinition",
    "AWS::CloudWatch::CompositeAlarm",
):
    recorded_only(kind)


@adaptation("The emulator refuses alarms on metric math. They are stored as alarms on a metric of no data.")
def metric_math_alarms_are_stored():
    def make(original):
        def record(name, props):
            if "Metrics" not in props:
                return original(name, props)
            rest = {key: value for key, value in props.items() if key != "Metrics"}
            return original(name, {**rest, "Namespace": "Lane", "MetricName": name, "Statistic": "Sum"})

        return record

    replace(provisioners, "_cw_metric_alarm_record", make)


@adaptation(
    "The emulator's Ref of a secret is its name; CloudFormation's is its ARN, by which the probe's role names it."
)
def secrets_are_referred_to_by_their_arn():
    handlers = provisioners._RESOURCE_HANDLERS["AWS::SecretsManager::Secret"]
    create, update, delete = (handlers[act] for act in ("create", "update", "delete"))

    def by_arn(_, attributes):
        return attributes["Arn"], attributes

    def name_of(arn):
        return secretsmanager._resolve(arn)[0]

    handlers["create"] = lambda *args: by_arn(*create(*args))
    handlers["update"] = lambda arn, *args: by_arn(*update(name_of(arn), *args))
    handlers["delete"] = lambda arn, props: delete(name_of(arn), props)


# --- Cognito: an issuer that can be reached ---


@adaptation(
    "The emulator's user pools have no ProviderURL, and its tokens name AWS's own issuer, whose keys are not the "
    "emulator's. Both become the emulator's address, where the key set is."
)
def the_issuer_is_the_emulator():
    def with_url(original):
        return lambda pool_id: {**original(pool_id), "ProviderURL": f"{ENDPOINT}/{pool_id}"}

    replace(provisioners, "_cognito_user_pool_attributes", with_url)

    def with_issuer(original):
        def sign(claims, *args, **kwargs):
            issuer = str(claims.get("iss", ""))
            if issuer.startswith("https://cognito-idp."):
                claims["iss"] = f"{ENDPOINT}/{issuer.rsplit('/', 1)[-1]}"
            return original(claims, *args, **kwargs)

        return sign

    replace(cognito, "_signed_jwt", with_issuer)


@adaptation(
    "A stage's token endpoint has a host name of Cognito's, which leads to AWS. The probe's client, by which each release "
    "is checked, asks the emulator."
)
def the_probe_asks_the_emulator():
    handlers = provisioners._RESOURCE_HANDLERS["AWS::Lambda::Function"]

    def asking_here(props):
        environment = props.get("Environment", {})
        variables = {
            name: re.sub(r"^https://[^/]+\.amazoncognito\.com", ENDPOINT, value) if name == "TOKEN_URL" else value
            for name, value in environment.get("Variables", {}).items()
        }
        return {**props, "Environment": {**environment, "Variables": variables}}

    create, update = handlers["create"], handlers["update"]
    handlers["create"] = lambda name, props, *rest: create(name, asking_here(props), *rest)
    handlers["update"] = lambda name, old, new, *rest: update(name, asking_here(old), asking_here(new), *rest)


# --- EventBridge ---


@adaptation(
    "The emulator's EventBridge runs a function once. Lambda runs an asynchronous invocation that fails twice more, and "
    "then tells the destination, by the configuration of the version or alias that was invoked."
)
def events_are_run_again():
    def make(original):
        def dispatch(arn, payload):
            func, config, name = lambda_svc._get_func_record_for_ref(arn)
            if not func or not config:
                return original(arn, payload)
            record = lambda_svc._execution_record_for_config(func, config)
            _, qualifier = lambda_svc._resolve_name_and_qualifier(arn)
            configured = lambda_svc._event_invoke_config(lambda_svc._functions[name], qualifier)
            event_invoke = {"event_invoke_config": configured, "event_invoke_configs": {}}
            lambda_svc.invoke_async_with_retry({**func, **record, **event_invoke}, json.loads(payload))

        return dispatch

    replace(eventbridge, "_dispatch_to_lambda", make)


# --- API Gateway ---


@adaptation(
    "The emulator leaves a function's WWW-Authenticate as it is; API Gateway renames it (Known issues for REST APIs)."
)
def the_challenge_is_renamed():
    def make(original):
        async def invoke(*args, **kwargs):
            status, headers, body = await original(*args, **kwargs)
            return status, {RENAMED.get(name.lower(), name): value for name, value in headers.items()}, body

        return invoke

    replace(apigateway_v1, "_invoke_lambda_proxy_v1", make)


RENAMED = {"www-authenticate": "x-amzn-Remapped-WWW-Authenticate"}


@adaptation(
    "The emulator leaves ~1 for a slash in the paths of a stage's method settings, and so finds no limit but the default one."
)
def methods_have_their_limits():
    def make(original):
        def settings(raw):
            return {decoded(key): value for key, value in original(raw).items()}

        return settings

    def decoded(key):
        return "/" + key.replace("~1", "/").lstrip("/") if "~1" in key else key

    replace(provisioners, "_apigw_method_settings", make)


# --- CloudFront ---


@adaptation(
    "The emulator's CloudFront reads a bucket by itself, whatever the query says. CloudFront asks S3 under the bucket's own "
    "host, and S3 looks at the signature in the query. In the lane, links name the bucket in their path."
)
def the_edge_asks_s3():
    def make(original):
        async def fetch(origin, method, uri, query, headers, *rest):
            if not origin.get("s3_bucket"):
                return await original(origin, method, uri, query, headers, *rest)
            return await run_reentrant(ask, method, f"{uri}?{query}", headers)

        return fetch

    def ask(method, path, headers):
        # S3 refuses a request with two ways of authentication; the emulator's S3 accepts it.
        if method != "OPTIONS" and "authorization" in headers and "X-Amz-Algorithm=" in path:
            return 400, "Bad Request", {"content-type": "application/xml"}, b"Only one auth mechanism allowed"
        site = urlsplit(ENDPOINT).netloc
        connection = http.client.HTTPSConnection(site, context=ssl._create_unverified_context())
        try:
            connection.request(method, path, headers={**headers, "host": site})
            answer = connection.getresponse()
            return answer.status, answer.reason, cloudfront._multidict_from_pairs(answer.getheaders()), answer.read()
        finally:
            connection.close()

    replace(cloudfront, "_fetch_from_origin", make)


# --- IAM ---


@adaptation(
    "The emulator checks GetQueryExecution and StopQueryExecution against no resource; AWS's Service Authorization "
    "Reference names the workgroup of the execution."
)
def executions_belong_to_their_workgroup():
    def make(original):
        def resource(service, method, path, headers, body, query_params, region, account_id):
            if service == "athena":
                execution = athena._executions.get(json.loads(body or b"{}").get("QueryExecutionId"))
                if execution:
                    return f"arn:aws:athena:{region}:{account_id}:workgroup/{execution['WorkGroup']}"
            return original(service, method, path, headers, body, query_params, region, account_id)

        return resource

    replace(iam_actions, "extract_resource_arn", make)


@adaptation(
    "The emulator has no condition keys s3:if-none-match and s3:ObjectCreationOperation, by which a bucket's policy "
    "demands conditional writes (S3 User Guide, Enforce conditional writes)."
)
def writes_have_their_condition_keys():
    def make(original):
        def context(action, query_params, path="", headers=None):
            found = original(action, query_params, path, headers)
            if action != "s3:PutObject":
                return found
            is_part = any(name in (query_params or {}) for name in ("uploads", "partNumber"))
            condition = (headers or {}).get("if-none-match")
            return {
                **found,
                "s3:ObjectCreationOperation": "false" if is_part else "true",
                **({"s3:if-none-match": condition} if condition else {}),
            }

        return context

    replace(iam_actions, "s3_service_context", make)


# --- Athena ---


@adaptation("The emulator takes no ExecutionParameters. Each stands where its question mark stood.")
def execution_parameters_are_filled_in():
    # A text in single quotes, a name in double quotes, or a question mark outside both.
    token = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\?")

    def make(original):
        def start(data):
            parameters = iter(data.get("ExecutionParameters") or [])
            fill = lambda match: f"({next(parameters)})" if match[0] == "?" else match[0]
            return original({**data, "QueryString": token.sub(fill, data.get("QueryString", ""))})

        return start

    replace(athena, "_start_query_execution", make)


@adaptation("The emulator starts another query for a ClientRequestToken that it has seen; Athena gives the same.")
def one_query_for_one_token():
    started = {}

    def make(original):
        def start(data):
            key = (data.get("WorkGroup"), data.get("ClientRequestToken"))
            if key[1] is None:
                return original(data)
            if key not in started:
                started[key] = original(data)
            return started[key]

        return start

    replace(athena, "_start_query_execution", make)


@adaptation("The emulator finishes a query that was stopped, and then says that it succeeded.")
def stopped_queries_stay_stopped():
    def make(original):
        async def execute(query_id, *args):
            task = asyncio.create_task(original(query_id, *args))
            while not task.done():
                await asyncio.wait([task], timeout=0.2)
                if (athena._executions.get(query_id) or {}).get("_stopped"):
                    task.cancel()
                    return

        return execute

    replace(athena, "_execute_query", make)

    def stop_made(original):
        def stop(data):
            execution = athena._executions.get(data.get("QueryExecutionId"))
            under_way = execution and execution["Status"]["State"] in ("QUEUED", "RUNNING")
            answer = original(data)
            if under_way:
                execution["_stopped"] = True
            return answer

        return stop

    replace(athena, "_stop_query_execution", stop_made)


def athena_value(value):
    if value is None:
        return ""
    if isinstance(value, Decimal):
        text = format(value, "f")
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = str(value)
    return '"' + text.replace('"', '""') + '"'


@adaptation(
    "The emulator writes its result to <id>.csv/<id>.csv, though it says <id>.csv, quotes only where it must, ends "
    "lines with CRLF, and makes no difference between NULL and an empty text. Athena quotes every value but NULL, and "
    "ends lines with LF."
)
def results_are_written_as_athena_writes_them():
    async def save(query_id):
        execution = athena._executions[query_id]
        results = execution["_results"]
        lines = [results["columns"], *results["rows"]]
        text = "".join(",".join(map(athena_value, line)) + "\n" for line in lines)
        bucket, _, key = execution["ResultConfiguration"]["OutputLocation"][len("s3://"):].partition("/")
        body = faults.enlarged(text.encode(), strikes_this_query.get())
        # Athena's clients rely on this order: the data first, then the metadata.
        for name, data in ((key, body), (f"{key}.metadata", b"")):
            headers = {"content-type": "application/octet-stream", "content-length": str(len(data))}
            status, _, answer = s3._put_object(bucket, name, data, headers)
            if status >= 300:
                raise RuntimeError(f"The result could not be written: {answer!r}")

    replace(athena, "_save_query_results", lambda original: save)


@adaptation(
    "The emulator takes a table's columns from its files; Athena from its definition, so that a column that no file "
    "has is NULL."
)
def tables_have_the_columns_of_their_definition():
    def empty(table_data):
        columns = table_data["StorageDescriptor"]["Columns"] + table_data.get("PartitionKeys", [])
        typed = (f'CAST(NULL AS {DUCKDB_TYPE.get(c["Type"], c["Type"])}) AS "{c["Name"]}"' for c in columns)
        return f"(SELECT {', '.join(typed)} WHERE false)"

    def make(original):
        def relation(table_data, files):
            return f"(FROM {empty(table_data)} UNION ALL BY NAME FROM {original(table_data, files)})"

        return relation

    replace(athena, "_table_relation", make)
    replace(athena, "_empty_relation", lambda original: empty)


DUCKDB_TYPE = {"string": "VARCHAR"}


# --- The faults that tests set. They are no adaptations: while no fault is set, this code changes nothing. ---


def faults_strike():
    def make_run(original):
        async def run(query, *args):
            struck = faults.strike("query", query)
            strikes_this_query.set(struck)
            await faults.delay(struck)
            for fault in struck:
                if "fail" in fault:
                    raise RuntimeError(MADE_TO_FAIL + fault["fail"])
            return await original(query, *args)

        return run

    replace(athena, "_run_duckdb", make_run)

    def make_out(original):
        def out(execution):
            told = original(execution)
            _, made_to, how = (execution.get("_error") or "").partition(MADE_TO_FAIL)
            return {**told, "Status": {**told["Status"], **failure(how)}} if made_to else told

        return out

    replace(athena, "_execution_out", make_out)

    def make_athena(original):
        async def handle(method, path, headers, body, query_params):
            struck = faults.strike("athena", headers.get("x-amz-target", ""))
            await faults.delay(struck)
            if any(fault.get("throttle") for fault in struck):
                return athena.error_response_json("TooManyRequestsException", "made to throttle", 400)
            if any(fault.get("status") for fault in struck):
                return athena.error_response_json("InternalServerException", "made to fail", 500)
            return await original(method, path, headers, body, query_params)

        return handle

    replace(athena, "handle_request", make_athena)

    def make_s3(original):
        async def handle(method, path, *args, **kwargs):
            key = path.lstrip("/").partition("/")[2]
            struck = faults.strike("s3", f"{method} {key}")
            await faults.delay(struck)
            if any(fault.get("throttle") for fault in struck):
                return s3._error("SlowDown", "made to throttle", 503)
            for status in (fault["status"] for fault in struck if "status" in fault):
                return s3._error("InternalError" if status == 500 else "ConditionalRequestConflict", "made", status)
            return await original(method, path, *args, **kwargs)

        return handle

    replace(s3, "handle_request", make_s3)


strikes_this_query = ContextVar("strikes_this_query", default=[])
MADE_TO_FAIL = "made to fail: "


def failure(how):
    """The members of Athena's Status for a query that failed or was cut off."""
    if how == "cut-off":
        return {"State": "CANCELLED", "StateChangeReason": "Bytes scanned limit was exceeded"}
    retryable = how == "retryable"
    return {"AthenaError": {"ErrorCategory": 1 if retryable else 2, "ErrorType": 0, "Retryable": retryable}}


def end_with_starter():
    """Ends this process when the pipe from its starter ends, however the starter has ended."""
    # Does not read sys.stdin: that has a lock, which this thread would still hold when the interpreter ends.
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    faults_strike()
    # Without this line, the emulator would also listen on the machine's port for TLS.
    app._port_is_bindable = lambda *_: False
    threading.Thread(target=end_with_starter, daemon=True).start()
    app.main()
