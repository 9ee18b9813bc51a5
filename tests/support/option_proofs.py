"""For each honoured table option a test that sets it and sees its effect."""

from collections.abc import Mapping, Sequence

PROOFS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "faults/test_overlapping_compactions.py": {
        "a_compaction_of_a_file_that_got_its_first_vector_meanwhile_is_a_conflict": (
            "compaction.force-rewrite-all-files",
        ),
    },
    "interop/test_compacted_as_java_does.py": {
        "our_compactions_make_the_files_that_java_makes": ("deletion-vectors.bitmap64",),
    },
    "interop/test_lifecycle_and_java.py": {
        "expiry_leaves_the_same_files": ("changelog.num-retained.min",),
    },
    "unit/commit/test_catalog_partitions.py": {
        "new_partitions_are_added_and_dropped_ones_removed": ("metastore.partitioned-table",),
        "tags_are_partitions": ("metastore.tag-to-partition",),
    },
    "unit/commit/test_committer.py": {
        "fresh_users_have_the_prefix_of_the_option": ("commit.user-prefix",),
    },
    "unit/commit/test_iceberg.py": {
        "the_files_have_the_names_of_java": ("metadata.iceberg.storage",),
        "the_folder_of_a_catalog_may_be_that_of_the_table": ("metadata.iceberg.storage-location",),
        "deletion_vectors_are_part_of_format_version_3": ("metadata.iceberg.format-version",),
        "manifests_are_merged_by_number_and_size": (
            "metadata.iceberg.compaction.max.file-num",
            "metadata.iceberg.compaction.min.file-num",
        ),
        "old_metadata_files_are_deleted_as_the_options_say": (
            "metadata.iceberg.delete-after-commit.enabled",
            "metadata.iceberg.previous-versions-max",
        ),
        "manifests_have_the_compression_of_the_option": ("metadata.iceberg.manifest-compression",),
        "counts_have_the_names_of_iceberg_1_4_on_request": (
            "metadata.iceberg.manifest-legacy-version",
        ),
    },
    "unit/metastore/iceberg/test_hive_iceberg_catalog.py": {
        "later_changes_move_the_location_of_the_metadata": ("metadata.iceberg.uri",),
        "the_table_may_be_in_several_databases_under_another_name": (
            "metadata.iceberg.database",
            "metadata.iceberg.table",
        ),
        "changes_have_the_settings_of_the_options": (
            "metadata.iceberg.glue.skip-archive",
            "metadata.iceberg.hive-skip-update-stats",
        ),
        "the_address_may_be_in_a_configuration_folder": ("metadata.iceberg.hive-conf-dir",),
        "a_metastore_that_cannot_be_used_is_told_before_the_commit": (
            "metadata.iceberg.hive-client-class",
        ),
    },
    "unit/commit/test_manifest_format.py": {
        "manifests_have_the_format_that_the_table_asks_for_however_they_are_merged": (
            "manifest.format",
            "manifest.merge-min-count",
        ),
    },
    "unit/commit/test_strict_mode.py": {
        "new_files_that_are_there_already_may_be_left_out": ("commit.discard-duplicate-files",),
        "commits_are_checked_if_the_option_says_so": ("commit.strict-mode.last-safe-snapshot",),
    },
    "unit/maintenance/rewrites/test_row_id_reassignment.py": {
        "long_ranges_keep_their_ids": ("data-evolution.reassign.skip-contiguous-row-count",),
    },
    "unit/maintenance/row_level/test_primary_key_rows.py": {
        "engines_that_would_not_delete_refuse": ("aggregation.remove-record-on-delete",),
        "partial_updates_take_updates_and_with_an_option_deletes": (
            "partial-update.remove-record-on-delete",
        ),
    },
    "unit/maintenance/test_append_compaction.py": {
        "the_first_neighbours_of_a_bucket_are_enough_for_a_minor_one": ("compaction.min.file-num",),
    },
    "unit/maintenance/test_auto_compaction.py": {
        "a_table_may_leave_compaction_to_others": ("lookup-wait",),
        "rows_of_a_table_with_deletion_vectors_are_there_at_once": ("deletion-vectors.enabled",),
        "runs_are_merged_when_there_are_as_many_as_the_option_says": (
            "num-sorted-run.compaction-trigger",
        ),
        "whoever_is_late_leaves_the_compaction_to_the_other": ("force-lookup",),
    },
    "unit/maintenance/test_clustered_compaction.py": {
        "rows_are_merged_by_key_and_stored_by_the_other_columns": ("pk-clustering-override",),
    },
    "unit/maintenance/test_compact.py": {
        "gentle_lookups_wait_for_some_commits": (
            "lookup-compact",
            "lookup-compact.max-interval",
        ),
        "postponed_rows_go_to_real_buckets_in_the_order_they_came": (
            "postpone.default-bucket-num",
        ),
        "sums_of_files_in_order_keep_the_newest_sequence_number": ("merge-engine",),
    },
    "unit/maintenance/test_levels.py": {
        "options_and_files_tell_the_highest_level": ("num-levels",),
    },
    "unit/maintenance/test_partition_expiry.py": {
        "at_most_so_many_go_at_once": ("partition.expiration-max-num",),
        "the_newest_file_may_tell_the_time": ("partition.expiration-strategy",),
    },
    "unit/maintenance/test_post_commit.py": {
        "a_consumer_that_stands_still_goes_behind_a_commit": ("consumer.expiration-time",),
        "a_tag_is_named_for_the_period_before": (
            "tag.creation-period",
            "tag.creation-period-duration",
            "tag.period-formatter",
        ),
        "a_tag_waits_for_the_delay": ("tag.creation-delay",),
        "a_write_only_table_keeps_all_snapshots": ("write-only",),
        "each_batch_moves_its_tag": ("tag.batch.customized-name",),
        "missed_days_are_filled_when_asked_for": ("tag.automatic-completion",),
        "partitions_expire_behind_a_commit_only_when_a_batch_is_asked_to": (
            "end-input.check-partition-expire",
            "partition.expiration-check-interval",
            "partition.expiration-time",
        ),
        "the_oldest_automatic_tags_go_and_hand_made_ones_stay": ("tag.num-retained-max",),
        "what_is_new_since_the_automatic_tag_before": ("incremental-to-auto-tag",),
    },
    "unit/maintenance/test_primary_key_indexes.py": {
        "a_compaction_indexes_the_files_that_it_writes": (
            "pk-bitmap.index.columns",
            "pk-btree.index.columns",
        ),
    },
    "unit/maintenance/test_record_expiry.py": {
        "files_on_the_top_level_are_rewritten_when_their_rows_grow_too_old": (
            "record-level.expire-time",
        ),
        "the_column_of_times_must_be_named": ("record-level.time-field",),
    },
    "unit/maintenance/test_snapshot_expiry.py": {
        "a_consumer_of_changelogs_only_holds_no_snapshot": ("consumer.changelog-only",),
        "changelogs_may_outlive_their_snapshots": (
            "changelog.num-retained.max",
            "changelog.time-retained",
        ),
    },
    "unit/maintenance/test_sort_compaction.py": {
        "incremental_clustering_sorts_what_is_new": ("clustering.incremental",),
        "the_options_may_name_columns_and_strategy": (
            "clustering.columns",
            "clustering.strategy",
        ),
    },
    "unit/maintenance/test_tag_operations.py": {
        "a_file_tells_other_systems_of_a_tag": ("tag.create-success-file",),
        "the_table_may_say_how_long_tags_live": ("tag.default-time-retained",),
    },
    "unit/maintenance/test_universal_compaction.py": {
        "a_run_joins_when_it_is_not_much_larger_than_all_before_it": ("compaction.size-ratio",),
        "intervals_and_sizes_start_early_full_compactions": (
            "compaction.incremental-size-threshold",
            "compaction.optimization-interval",
            "compaction.total-size-threshold",
        ),
        "space_amplification_starts_a_compaction_of_everything": (
            "compaction.max-size-amplification-percent",
        ),
    },
    "unit/merge/test_deduplicate_first_row.py": {
        "descending_sequence_fields_let_the_smallest_win_but_never_null": (
            "sequence.field.sort-order",
        ),
    },
    "unit/merge/test_merge_spec.py": {
        "groups_that_remove_rows_are_always_needed": (
            "partial-update.remove-record-on-sequence-group",
        ),
        "the_default_function_is_that_of_columns_without_one": (
            "fields.default-aggregate-function",
        ),
    },
    "unit/metadata/test_alter_schema.py": {
        "deletion_vectors_can_be_switched_on_demand": ("deletion-vectors.modifiable",),
        "explicit_casts_can_be_forbidden": ("disable-explicit-type-casting",),
        "new_columns_may_go_before_partition_columns": ("add-column-before-partition",),
    },
    "unit/metadata/test_schema_validation.py": {
        "keys_may_be_nullable_on_demand": ("primary-key.nullable",),
    },
    "unit/metastore/rest/test_query_rules.py": {
        "a_read_cannot_disable_the_rules": ("query-auth.enabled",),
    },
    "unit/metastore/rest/test_rest_catalog.py": {
        "an_external_table_takes_over_the_table_in_its_folder": ("path",),
    },
    "unit/read/test_skip_unreadable_files.py": {
        "a_damaged_file_is_left_out_if_the_reader_asks_for_that": (
            "scan.ignore-corrupt-files",
            "scan.ignore-lost-files",
        ),
    },
    "unit/read/test_split_reader.py": {
        "a_sequence_field_outranks_the_order_of_writing": ("sequence.field",),
    },
    "unit/scan/test_branch_scan.py": {
        "increments_are_read_in_both_branches": (
            "incremental-between",
            "incremental-between-scan-mode",
            "incremental-between-timestamp",
        ),
        "the_primary_branch_is_as_old_as_the_snapshot": ("scan.primary-branch",),
        "under_time_travel_the_fallback_branch_is_as_old": ("scan.fallback-branch",),
    },
    "unit/spark/test_data_source.py": {
        "an_empty_batch_of_a_stream_creates_a_snapshot_if_asked": ("commit.force-create-snapshot",),
    },
    "unit/spark/test_stream_limits.py": {
        "a_stream_begins_where_the_options_say": (
            "consumer.ignore-progress",
            "scan.mode",
        ),
        "a_stream_waits_until_snapshots_are_old_enough": ("streaming.read.snapshot.delay",),
    },
    "unit/table/test_file_tables.py": {
        "files_have_the_compression_that_the_table_asks_for": ("format-table.file.compression",),
        "folders_may_be_named_after_values_only": ("format-table.partition-path-only-value",),
    },
    "unit/table/test_follow.py": {
        "the_table_says_how_long_to_wait_between_looks": ("continuous.discovery-interval",),
    },
    "unit/table/test_stream_starts.py": {
        "batch_reads_give_the_options_javas_meaning": ("scan.creation-time-millis",),
        "a_watermark_ends_a_stream_before_the_first_snapshot_beyond_it": (
            "scan.bounded.watermark",
        ),
    },
    "unit/table/test_audit_log_binlog_tables.py": {
        "the_audit_log_and_the_binlog_show_sequence_numbers_if_asked": (
            "table-read.sequence-number.enabled",
        ),
    },
    "unit/table/test_bad_input.py": {
        "an_empty_batch_makes_a_snapshot_if_the_table_wants_one": ("snapshot.ignore-empty-commit",),
    },
    "unit/table/test_changed_columns.py": {
        "nulls_do_not_fit_not_null": ("alter-column-null-to-not-null.disabled",),
    },
    "unit/table/test_option_effects.py": {
        "a_branch_is_an_option": ("branch",),
        "a_higher_level_of_zstd_makes_smaller_files": ("file.compression.zstd-level",),
        "a_local_time_selects_the_snapshot_before_it": ("scan.timestamp",),
        "a_new_partition_of_postponed_rows_gets_as_many_buckets_as_rows_need": (
            "bucket",
            "postpone.target-row-num-per-bucket",
        ),
        "a_point_in_time_is_an_option": (
            "scan.snapshot-id",
            "scan.tag-name",
            "scan.timestamp-millis",
            "scan.version",
            "scan.watermark",
        ),
        "as_many_snapshots_expire_at_once_as_the_options_say": (
            "snapshot.expire.limit",
            "snapshot.num-retained.max",
            "snapshot.num-retained.min",
            "snapshot.time-retained",
        ),
        "buckets_are_those_of_the_hash_function": (
            "bucket-function.type",
            "bucket-key",
        ),
        "changelog_files_have_statistics_of_their_own": ("changelog-file.stats-mode",),
        "columns_without_statistics_have_null_ones_if_asked": ("metadata.stats-dense-store",),
        "compactions_take_level_0_if_asked": ("compaction.force-up-level-0",),
        "days_of_automatic_tags_are_those_of_the_time_zone": ("sink.process-time-zone",),
        "deletion_vectors_are_packed_into_files_of_the_target_size": (
            "deletion-vector.index-file.target-size",
        ),
        "each_batch_is_compacted_fully_if_asked": ("full-compaction.delta-commits",),
        "each_level_has_its_compression": (
            "changelog-file.compression",
            "changelog-file.prefix",
            "file.compression.per.level",
        ),
        "entries_of_deleted_files_have_no_statistics_if_asked": (
            "manifest.delete-file-drop-stats",
        ),
        "equal_values_of_ignored_fields_make_no_change": (
            "changelog-producer.row-deduplicate",
            "changelog-producer.row-deduplicate-ignore-fields",
        ),
        "expired_tags_stay_if_asked": (
            "tag.automatic-creation",
            "tag.time-expire-enabled",
        ),
        "file_indexes_are_used_unless_disabled": ("file-index.read.enabled",),
        "files_with_many_deleted_rows_are_rewritten": ("compaction.delete-ratio-threshold",),
        "folders_of_days_have_numbers_or_dates": ("partition.legacy-name",),
        "index_files_are_beside_data_files_if_asked": ("index-file-in-data-file-dir",),
        "keys_and_partitions_may_be_options": ("primary-key",),
        "large_file_indexes_are_files_of_their_own": ("file-index.in-manifest-threshold",),
        "large_files_need_no_compaction_by_the_ratio_of_small_ones": (
            "compaction.small-file-ratio",
        ),
        "later_snapshots_win_over_larger_sequence_numbers": ("sequence.snapshot-ordering",),
        "level_0_is_merged_on_read_if_asked": ("deletion-vectors.merge-on-read",),
        "manifests_are_merged_at_the_threshold": ("manifest.full-compaction-threshold-size",),
        "manifests_end_at_the_target_size": ("manifest.target-file-size",),
        "manifests_have_the_compression_of_the_option": ("manifest.compression",),
        "new_files_go_to_the_external_paths_of_the_strategy": (
            "data-file.external-paths",
            "data-file.external-paths.specific-fs",
            "data-file.external-paths.strategy",
            "data-file.external-paths.weights",
        ),
        "only_one_bucket_is_scanned_if_asked": ("scan.bucket",),
        "only_the_first_columns_have_statistics_if_asked": ("metadata.stats-keep-first-n-columns",),
        "overwritten_files_go_to_the_top_level_unless_asked_otherwise": ("overwrite-upgrade",),
        "partitions_are_read_in_the_order_of_their_values_if_asked": ("scan.plan-sort-partition",),
        "row_ids_are_contiguous_in_a_partition_unless_asked_otherwise": (
            "partition",
            "row-tracking.enabled",
            "row-tracking.partition-group-on-commit",
        ),
        "rows_of_partitions_without_a_time_are_refused_if_asked": (
            "partition.timestamp-format.strict",
            "partition.timestamp-formatter",
            "partition.timestamp-pattern",
        ),
        "splits_have_the_target_size": ("source.split.target-size",),
        "statistics_may_differ_per_level": ("metadata.stats-mode.per.level",),
        "the_branches_of_a_chain_table_are_options": (
            "chain-table.enabled",
            "scan.fallback-delta-branch",
            "scan.fallback-snapshot-branch",
        ),
        "the_cost_of_opening_files_limits_the_files_of_a_split": ("source.split.open-file-cost",),
        "waits_between_retries_are_those_of_the_options": (
            "commit.max-retries",
            "commit.max-retry-wait",
            "commit.min-retry-wait",
            "commit.timeout",
        ),
        "watermarks_are_times_of_the_time_zone": ("sink.watermark-time-zone",),
    },
    "unit/table/test_path_options.py": {
        "other_names_are_written_and_read": (
            "data-file.path-directory",
            "partition.default-name",
        ),
    },
    "unit/table/test_row_changes.py": {
        "a_consumer_goes_on_where_it_stopped": ("consumer-id",),
        "an_overwrite_of_rows_without_a_key_is_told_in_javas_way_if_the_table_says_so": (
            "streaming-read-append-overwrite",
        ),
        "columns_written_beside_old_rows_are_told_as_changed_rows": ("data-evolution.enabled",),
        "the_option_of_overwrites_keeps_the_meaning_that_it_has_in_java": (
            "streaming-read-overwrite",
        ),
    },
    "unit/table/test_table.py": {
        "an_increment_between_tags_compares_states_unless_they_stand_for_snapshots": (
            "incremental-between-tag-to-snapshot",
        ),
        "files_made_before_a_time_are_left_out": ("scan.file-creation-time-millis",),
    },
    "unit/table/test_table_write.py": {
        "a_static_overwrite_replaces_all_rows": ("dynamic-partition-overwrite",),
    },
    "unit/write/test_append_writer.py": {
        "files_end_at_the_target_number_of_rows": ("target-file-row-num",),
        "files_end_at_the_target_size": ("target-file-size",),
        "names_tell_format_and_compression": (
            "data-file.prefix",
            "file.suffix.include.compression",
        ),
        "statistics_follow_the_options": ("metadata.stats-mode",),
    },
    "unit/write/test_blob_descriptors.py": {
        "descriptors_are_stored_in_data_files_and_read_as_contents": ("blob-descriptor-field",),
        "contents_of_written_descriptors_are_copied_to_blob_files": ("blob-as-descriptor",),
    },
    "unit/write/test_blob_views.py": {
        "references_are_stored_and_read_as_the_blobs_of_other_tables": (
            "blob-view-field",
            "blob-view.resolve.enabled",
        ),
    },
    "unit/write/test_blob_files.py": {
        "each_blob_column_has_files_along_the_row_ids_of_the_others": ("blob.target-file-size",),
    },
    "unit/write/test_shredded_variants.py": {
        "variants_come_back_as_they_were": ("variant.shreddingSchema",),
        "columns_of_variants_are_inferred_as_java_infers_them": ("variant.inferShreddingSchema",),
        "inferred_columns_are_limited": (
            "variant.shredding.maxInferBufferRow",
            "variant.shredding.maxSchemaDepth",
            "variant.shredding.maxSchemaWidth",
            "variant.shredding.minFieldCardinalityRatio",
        ),
    },
    "unit/write/test_cross_partition.py": {
        "keys_of_old_buckets_are_forgotten_after_a_time": ("cross-partition-upsert.index-ttl",),
        "more_keys_than_buckets_hold_are_refused": ("dynamic-bucket.max-buckets",),
    },
    "unit/write/test_format_writers.py": {
        "row_groups_have_the_size_that_the_options_ask_for": ("file.block-size",),
    },
    "unit/write/test_primary_key_writer.py": {
        "a_full_buffer_is_flushed_as_a_run_of_its_own": ("write-buffer-size",),
        "an_input_changelog_holds_every_row_by_key_and_number": ("changelog-producer",),
        "dynamic_buckets_fill_up_and_remember_their_keys": ("dynamic-bucket.target-row-num",),
        "formats_may_differ_per_level_and_for_changelogs": (
            "changelog-file.format",
            "file.format.per.level",
        ),
        "thin_files_have_no_key_columns": ("data-file.thin-mode",),
    },
    "unit/scan/test_global_indexes.py": {
        "options_say_whether_indexes_are_used": (
            "global-index.enabled",
            "global-index.column-update-action",
        ),
    },
    "unit/table/test_index_search.py": {
        "indexes_of_partitions_and_shards": ("global-index.row-count-per-shard",),
        "texts_without_index_are_found_if_the_mode_says_so": ("full-text-index.search-mode",),
        "modes_of_vector_searches": ("vector-index.search-mode", "global-index.search-mode"),
        "compactions_build_primary_key_indexes_that_searches_use": (
            "pk-full-text.index.columns",
            "pk-vector.index.columns",
        ),
    },
    "unit/write/test_row_kinds.py": {
        "a_column_of_the_table_may_hold_the_kind": ("rowkind.field",),
        "ignored_kinds_are_dropped_before_anything_else": (
            "ignore-delete",
            "ignore-update-before",
        ),
    },
    "unit/write/test_text_format.py": {
        "csv_values_are_the_texts_of_java_and_quoted_where_need_be": ("file.format",),
        "text_files_are_compressed_as_a_whole": ("file.compression",),
    },
}
"""Test file below `tests` -> test, without the prefix `test_` -> options."""
