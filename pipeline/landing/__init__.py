"""From closed segments to Parquet files in the folder that ingest watches."""
