"""One SARIF log of many: GitHub takes no file with two runs of the same tool."""
import json

_EMPTY = {"tool": {"driver": {"name": "heddle", "rules": []}}, "results": []}


def merged(reports):
    """reports: (test, text of a log). Each result names its test; what several tests found alike is there once."""
    logs = [(test, json.loads(text)) for test, text in reports if text]
    runs = [(test, run) for test, log in logs for run in log.get("runs", [])]
    whole = dict(logs[0][1]) if logs else {"version": "2.1.0"}
    first = dict(runs[0][1]) if runs else dict(_EMPTY)
    rules, results, tests, notifications = {}, {}, {}, []
    for test, run in runs:
        for rule in run["tool"]["driver"].get("rules", []):
            rules.setdefault(rule["id"], rule)
        for result in run.get("results", []):
            key = json.dumps([result.get(name) for name in ("ruleId", "locations", "partialFingerprints")])
            results.setdefault(key, result)
            tests.setdefault(key, []).append(test)
        for invocation in run.get("invocations", []):
            notifications += invocation.get("toolExecutionNotifications", [])
    places = {name: place for place, name in enumerate(rules)}
    for key, result in results.items():
        found_by = list(dict.fromkeys(tests[key]))
        more = f", and in {len(found_by) - 1} more" if len(found_by) > 1 else ""
        result["message"]["text"] = f"in {found_by[0]}{more}: {result['message']['text']}"
        result.setdefault("properties", {})["tests"] = found_by
        if result.get("ruleId") in places:
            result["ruleIndex"] = places[result["ruleId"]]
    first["tool"] = {"driver": dict(first["tool"]["driver"], rules=list(rules.values()))}
    first["results"] = list(results.values())
    if notifications:
        first["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notifications}]
    return dict(whole, runs=[first])
