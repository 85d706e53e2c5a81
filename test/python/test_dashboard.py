"""test_dashboard.py - examples/grafana/gshare.json asks for what gsctl metrics prints, and for nothing else."""
import json
import os
import re

from harness import SOURCE, equal, gsctl, run, scene, within

DASHBOARD = os.path.join(SOURCE, "examples/grafana/gshare.json")
SCRAPE = {"instance", "job"}  # labels that Prometheus adds


def _dashboard():
    with open(DASHBOARD, encoding="utf-8") as file:
        return json.load(file)


def _queries(dashboard):
    """Each query's place and text: those of the panels, and those of the variables."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"${variable['name']}", variable["query"]["query"]


def _printed():
    """The labels of each metric that gsctl prints for a server with a tenant that has launched, as its histograms tell."""
    printed = {}
    with scene(name="drawn") as (session, module):
        module.kernel("nothing").launch(1, 1)
        session.sync()
        within(10, lambda: "\ngshare_launch_latency_seconds_bucket{" in gsctl("metrics"))
        for name, labels in re.findall(r"^(\w+)\{(.*)\} \S+$", gsctl("metrics"), re.MULTILINE):
            printed.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return printed


def queries_have_only_metrics_and_labels_that_are_printed():
    printed, seen = _printed(), set()
    for place, query in _queries(_dashboard()):
        metrics = re.findall(r"\bgshare_\w+", query)
        assert metrics, f"{place}: no metric in {query}"
        for metric in metrics:
            assert metric in printed, f"{place}: gsctl metrics prints no {metric}"
        for metric, matchers in re.findall(r"(\w+)\{([^}]*)\}", query):
            for label in re.findall(r"(\w+)=~", matchers):
                assert label in printed[metric] | SCRAPE, f"{place}: {metric} has no label {label}"
        known = set().union(*(printed[metric] for metric in metrics)) | SCRAPE
        grouped = re.findall(r"\b(?:by|on) \(([^)]*)\)", query) + re.findall(r"^label_values\(.*, (\w+)\)$", query)
        for label in (label for labels in grouped for label in labels.split(", ")):
            assert label in known, f"{place}: {label} is no label of {', '.join(metrics)}"
        seen.update(metrics)
    # All that a tenant is charged for can be seen.
    equal({name for name in printed if name.startswith("gshare_") and "session" in printed[name]} - seen, set())


def queries_have_only_variables_that_there_are():
    dashboard = _dashboard()
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    equal({"datasource", "instance", "gpu", "user", "session"} - variables, set())
    for place, query in _queries(dashboard):
        unknown = set(re.findall(r"\$\{?(\w+)", query)) - variables - {"__rate_interval", "__range"}
        assert not unknown, f"{place}: {unknown}"


def panels_are_told_apart_and_do_not_overlap():
    dashboard, taken = _dashboard(), {}
    panels = dashboard["panels"]
    equal(len({panel["id"] for panel in panels}), len(panels))
    for panel in panels:
        at, title = panel["gridPos"], panel["title"]
        assert at["x"] + at["w"] <= 24, title
        for cell in ((x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])):
            assert cell not in taken, f"{title} lies on {taken[cell]}"
            taken[cell] = title
        if panel["type"] != "row":
            equal(panel["datasource"], {"type": "prometheus", "uid": "${datasource}"})
            refs = [target["refId"] for target in panel["targets"]]
            equal(len(set(refs)), len(refs))


if __name__ == "__main__":
    run(globals())
