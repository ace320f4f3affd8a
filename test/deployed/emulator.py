"""
Starts MiniStack, an AWS emulator by others, for the lane of deployed tests.

An adaptation replaces a part of the emulator that differs from AWS. All adaptations are in this file, each with its
reason; nothing in lib/, functions/ or infra/ knows of the emulator. An adaptation fails at the start when the part that
it replaces is gone, so that an adaptation that is no longer needed is noticed.
"""

import asyncio
import json
import os
import re
import threading
from contextvars import ContextVar
from decimal import Decimal
from functools import partial

import faults
from ministack import app
from ministack.core import iam_actions
from ministack.services import apigateway_v1, athena, cognito, eventbridge, lambda_svc, s3, secretsmanager
from ministack.services.cloudformation import provisioners

ENDPOINT = os.environ["LANE_ENDPOINT"]


def adaptation(module=None, name=None):
    """
    Applies an adaptation. The function's name says what it does, its comment says why. With a module and a name, it
    stands in for that function of the emulator, and gets the original as its first argument.
    """

    def apply(adapted):
        if module:
            setattr(module, name, partial(adapted, getattr(module, name)))
        else:
            adapted()

    return apply


# --- CloudFormation: resource types and properties that the emulator does not know ---


def recorded_only(kind):
    """Adds a resource type. The emulator then accepts its resources in templates, but they do nothing."""
    if kind in provisioners._RESOURCE_HANDLERS:
        raise SystemExit(f"The emulator knows {kind}: remove the adaptation.")

    def made(physical_id, *_):
        return physical_id, {"Arn": f"arn:aws:lane:::{physical_id}"}

    provisioners._RESOURCE_HANDLERS[kind] = {
        "create": lambda logical_id, props, stack_name: made(f"{stack_name}-{logical_id}"),
        "update": made,
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


@adaptation(provisioners, "_cw_metric_alarm_record")
def metric_math_alarms_are_stored(original, name, props):
    """The emulator refuses alarms on metric math. They are stored as alarms on a metric of no data."""
    rest = {key: value for key, value in props.items() if key != "Metrics"}
    no_data = {"Namespace": "Lane", "MetricName": name, "Statistic": "Sum"}
    return original(name, {**rest, **no_data} if "Metrics" in props else props)


@adaptation()
def secrets_are_referred_to_by_their_arn():
    """The emulator's Ref of a secret is its name; CloudFormation's is its ARN, by which the probe's role names it."""
    handlers = provisioners._RESOURCE_HANDLERS["AWS::SecretsManager::Secret"]
    create, update, delete = (handlers[act] for act in ("create", "update", "delete"))
    by_arn = lambda _, attributes: (attributes["Arn"], attributes)
    name_of = lambda arn: secretsmanager._resolve(arn)[0]
    handlers["create"] = lambda *args: by_arn(*create(*args))
    handlers["update"] = lambda arn, *args: by_arn(*update(name_of(arn), *args))
    handlers["delete"] = lambda arn, props: delete(name_of(arn), props)


# --- Cognito: an issuer that can be reached ---


@adaptation(provisioners, "_cognito_user_pool_attributes")
def a_pool_names_the_emulator(original, pool_id):
    """The emulator's user pools have no ProviderURL. It becomes the emulator's address, where the key set is."""
    return {**original(pool_id), "ProviderURL": f"{ENDPOINT}/{pool_id}"}


@adaptation(cognito, "_signed_jwt")
def the_issuer_is_the_emulator(original, claims, *args, **kwargs):
    """Its tokens name AWS's own issuer, whose keys are not the emulator's."""
    issuer = str(claims.get("iss", ""))
    if issuer.startswith("https://cognito-idp."):
        claims["iss"] = f"{ENDPOINT}/{issuer.rsplit('/', 1)[-1]}"
    return original(claims, *args, **kwargs)


@adaptation()
def the_probe_asks_the_emulator():
    """A stage's token endpoint has a host name of Cognito's, which leads to AWS. The probe's client, by which each
    release is checked, asks the emulator."""
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


@adaptation(eventbridge, "_dispatch_to_lambda")
def events_are_run_again(original, arn, payload):
    """The emulator's EventBridge runs a function once. Lambda runs an asynchronous invocation that fails twice more,
    and then tells the destination, by the configuration of the version or alias that was invoked."""
    func, config, name = lambda_svc._get_func_record_for_ref(arn)
    if not func or not config:
        return original(arn, payload)
    record = lambda_svc._execution_record_for_config(func, config)
    _, qualifier = lambda_svc._resolve_name_and_qualifier(arn)
    configured = lambda_svc._event_invoke_config(lambda_svc._functions[name], qualifier)
    event_invoke = {"event_invoke_config": configured, "event_invoke_configs": {}}
    lambda_svc.invoke_async_with_retry({**func, **record, **event_invoke}, json.loads(payload))


# --- API Gateway ---


@adaptation(apigateway_v1, "_invoke_lambda_proxy_v1")
async def the_challenge_is_renamed(original, *args, **kwargs):
    """The emulator leaves a function's WWW-Authenticate as it is; API Gateway renames it (Known issues for REST
    APIs)."""
    status, headers, body = await original(*args, **kwargs)
    renamed = {"www-authenticate": "x-amzn-Remapped-WWW-Authenticate"}
    return status, {renamed.get(name.lower(), name): value for name, value in headers.items()}, body


@adaptation(provisioners, "_apigw_method_settings")
def methods_have_their_limits(original, raw):
    """The emulator leaves ~1 for a slash in the paths of a stage's method settings, and so finds no limit but the
    default."""
    decoded = lambda key: "/" + key.replace("~1", "/").lstrip("/") if "~1" in key else key
    return {decoded(key): value for key, value in original(raw).items()}


# --- IAM ---


@adaptation(iam_actions, "extract_resource_arn")
def executions_belong_to_their_workgroup(original, service, method, path, headers, body, query, region, account):
    """The emulator checks GetQueryExecution and StopQueryExecution against no resource; AWS's Service Authorization
    Reference names the workgroup of the execution."""
    execution_id = json.loads(body or b"{}").get("QueryExecutionId") if service == "athena" else None
    execution = athena._executions.get(execution_id)
    if execution:
        return f"arn:aws:athena:{region}:{account}:workgroup/{execution['WorkGroup']}"
    return original(service, method, path, headers, body, query, region, account)


# --- Athena ---


# A text in single quotes, a name in double quotes, or a question mark outside both.
TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\?")


@adaptation(athena, "_start_query_execution")
def execution_parameters_are_filled_in(original, data):
    """The emulator takes no ExecutionParameters. Each stands where its question mark stood."""
    parameters = iter(data.get("ExecutionParameters") or [])
    fill = lambda match: f"({next(parameters)})" if match[0] == "?" else match[0]
    return original({**data, "QueryString": TOKEN.sub(fill, data.get("QueryString", ""))})


@adaptation(athena, "_start_query_execution")
def one_query_for_one_token(original, data, started={}):
    """The emulator starts another query for a ClientRequestToken that it has seen; Athena gives the same."""
    key = (data.get("WorkGroup"), data.get("ClientRequestToken"))
    if key[1] is None:
        return original(data)
    if key not in started:
        started[key] = original(data)
    return started[key]


@adaptation(athena, "_execute_query")
async def stopped_queries_stay_stopped(original, query_id, *args):
    """The emulator finishes a query that was stopped, and then says that it succeeded."""
    task = asyncio.create_task(original(query_id, *args))
    while not task.done():
        await asyncio.wait([task], timeout=0.2)
        if (athena._executions.get(query_id) or {}).get("_stopped"):
            task.cancel()
            return


@adaptation(athena, "_stop_query_execution")
def stopped_queries_are_marked(original, data):
    """So it is marked as stopped."""
    execution = athena._executions.get(data.get("QueryExecutionId"))
    under_way = execution and execution["Status"]["State"] in ("QUEUED", "RUNNING")
    answer = original(data)
    if under_way:
        execution["_stopped"] = True
    return answer


def athena_value(value):
    if value is None:
        return ""
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if isinstance(value, bool):
        text = text.lower()
    return '"' + text.replace('"', '""') + '"'


@adaptation(athena, "_save_query_results")
async def results_are_written_as_athena_writes_them(_, query_id):
    """The emulator writes its result to <id>.csv/<id>.csv, though it says <id>.csv, quotes only where it must, ends
    lines with CRLF, and makes no difference between NULL and an empty text. Athena quotes every value but NULL, and
    ends lines with LF."""
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


@adaptation(athena, "_empty_relation")
def an_empty_table_has_its_columns(_, table_data):
    """The emulator takes a table's columns from its files; Athena from its definition."""
    columns = table_data["StorageDescriptor"]["Columns"] + table_data.get("PartitionKeys", [])
    type_of = lambda column: {"string": "VARCHAR"}.get(column["Type"], column["Type"])
    typed = (f'CAST(NULL AS {type_of(column)}) AS "{column["Name"]}"' for column in columns)
    return f"(SELECT {', '.join(typed)} WHERE false)"


@adaptation(athena, "_table_relation")
def columns_without_a_file_are_null(original, table_data, files):
    """So a column that no file has is NULL."""
    return f"(FROM {athena._empty_relation(table_data)} UNION ALL BY NAME FROM {original(table_data, files)})"


# --- The faults that tests set. They are no adaptations: while no fault is set, this code changes nothing. ---


@adaptation(athena, "_run_duckdb")
async def queries_are_struck(original, query, *args):
    """A test's fault strikes a query."""
    struck = faults.strike("query", query)
    strikes_this_query.set(struck)
    await faults.delay(struck)
    for fault in struck:
        if "fail" in fault:
            raise RuntimeError(MADE_TO_FAIL + fault["fail"])
    return await original(query, *args)


@adaptation(athena, "_execution_out")
def struck_queries_say_so(original, execution):
    """Athena tells how a query failed."""
    told = original(execution)
    _, made_to, how = (execution.get("_error") or "").partition(MADE_TO_FAIL)
    return {**told, "Status": {**told["Status"], **failure(how)}} if made_to else told


@adaptation(athena, "handle_request")
async def athena_is_struck(original, method, path, headers, body, query_params):
    """A test's fault strikes a call of Athena."""
    struck = faults.strike("athena", headers.get("x-amz-target", ""))
    await faults.delay(struck)
    if any(fault.get("throttle") for fault in struck):
        return athena.error_response_json("TooManyRequestsException", "made to throttle", 400)
    if any(fault.get("status") for fault in struck):
        return athena.error_response_json("InternalServerException", "made to fail", 500)
    return await original(method, path, headers, body, query_params)


@adaptation(s3, "handle_request")
async def s3_is_struck(original, method, path, *args, **kwargs):
    """A test's fault strikes a call of S3."""
    struck = faults.strike("s3", f"{method} {path.lstrip('/').partition('/')[2]}")
    await faults.delay(struck)
    if any(fault.get("throttle") for fault in struck):
        return s3._error("SlowDown", "made to throttle", 503)
    for status in (fault["status"] for fault in struck if "status" in fault):
        return s3._error("InternalError" if status == 500 else "ConditionalRequestConflict", "made", status)
    return await original(method, path, *args, **kwargs)


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
    # Without this line, the emulator would also listen on the machine's port for TLS.
    app._port_is_bindable = lambda *_: False
    threading.Thread(target=end_with_starter, daemon=True).start()
    app.main()
