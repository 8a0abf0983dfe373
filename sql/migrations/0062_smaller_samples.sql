-- A run analyses what it has just filled, only so that its next statements are planned well. A sample of a quarter is enough for that, and
-- takes a quarter of the time: seconds of a first run. Autovacuum analyses with the settings of the server, as before.

alter function ops.analyze_table(regclass) set default_statistics_target = 25;
