"""Loads a CSV file into Postgres with dlt, all columns as text, in batches of pyarrow.

Usage: dlt_load.py FILE URL PIPELINE append|merge
"""

import sys

import dlt
import pyarrow as pa
import pyarrow.csv as csv

path, url, pipeline_name, disposition = sys.argv[1:]
# A line item has no key of its own, so lines are merged by their number.
KEY = "line_number"


@dlt.resource(name="orders", write_disposition=disposition, primary_key=KEY)
def orders():
    with open(path, encoding="utf-8") as file:
        names = next(file).strip().split(",")
    types = {name: pa.string() for name in names}
    options = csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    first = 0
    with csv.open_csv(path, convert_options=options) as batches:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            last = first + table.num_rows
            yield table.append_column(KEY, pa.array(range(first, last), pa.int64()))
            first = last


pipeline = dlt.pipeline(
    pipeline_name=pipeline_name,
    destination=dlt.destinations.postgres(url),
    dataset_name=pipeline_name,
)
pipeline.run(orders(), loader_file_format="csv").raise_on_failed_jobs()
