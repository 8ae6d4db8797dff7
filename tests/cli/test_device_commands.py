"""`perfd device`: a person takes a device out and lets it measure again; a night's Runs follow."""

import json

from small_night import SmallNight


def test_a_person_takes_a_device_out_and_releases_it_and_what_was_lost_is_measured_again(small_night: SmallNight) -> None:
    unknown = small_night.run("device", "release", "cpu", "--reason", "x")
    assert (unknown.returncode, "there is no device 'cpu'; there is none yet" in unknown.stderr) == (3, True)
    assert "No device is known yet;" in small_night.run("device", "list").stdout

    assert small_night.run("nightly").returncode == 0
    told = small_night.run("device", "quarantine", "cpu", "--reason", "x", "--since", "yesterday")
    assert (told.returncode, "--since must be a time such as 2026-11-29T02:00" in told.stderr) == (3, True)
    taken = small_night.run("device", "quarantine", "cpu", "--reason", "smoke", "--actor", "ann", "--json")
    assert json.loads(taken.stdout)["quarantine"]["voided"] == 1

    listed = small_night.run("device", "list", "--json")
    assert listed.returncode == 2
    (row,) = json.loads(listed.stdout)["devices"]
    assert (row["state"], row["why"], row["quarantine"]["actor"]) == ("quarantined", "smoke", "ann")

    checks = json.loads(small_night.run("doctor", "--json").stdout)["checks"]
    assert ["in quarantine: smoke"] == [check["seen"] for check in checks if check["name"] == "device cpu"]
    assert small_night.run("device", "release", "cpu", "--reason", "a new fan").returncode == 0
    again = small_night.run("nightly")
    assert again.returncode == 0, again.stderr
    assert "1 runs that quarantine 1 made void are measured again" in again.stderr
