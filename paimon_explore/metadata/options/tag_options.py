"""Table options of tags and consumers.

Spec: maintenance/configurations.
"""

from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options.option_definition import choice, duration, flag, integer, text

TAG_AUTOMATIC_CREATION = choice(
    "tag.automatic-creation", "Clock for automatic tags.", default=of.TagCreationMode.NONE
)
TAG_CREATION_PERIOD = choice(
    "tag.creation-period", "Period of automatic tags.", default=of.TagCreationPeriod.DAILY
)
TAG_CREATION_DELAY = duration("tag.creation-delay", "Delay after the end of a period.", default=0)
TAG_PERIOD_FORMATTER = choice(
    "tag.period-formatter",
    "Name format of automatic tags.",
    default=of.TagPeriodFormatter.WITH_DASHES,
)
TAG_NUM_RETAINED_MAX = integer("tag.num-retained-max", "Maximum automatic tags to keep.")
TAG_DEFAULT_TIME_RETAINED = duration("tag.default-time-retained", "Default time to live of tags.")
TAG_AUTOMATIC_COMPLETION = flag("tag.automatic-completion", "Create missed tags.")
TAG_CREATE_SUCCESS_FILE = flag("tag.create-success-file", "Create a success file for tags.")
TAG_TIME_EXPIRE_ENABLED = flag(
    "tag.time-expire-enabled", "Expire tags by time to live.", default=True
)
CONSUMER_ID = text("consumer-id", "Consumer whose progress is stored.")
CONSUMER_EXPIRATION_TIME = duration("consumer.expiration-time", "Maximum age of consumers.")
CONSUMER_IGNORE_PROGRESS = flag("consumer.ignore-progress", "Ignore the stored progress.")
CONSUMER_CHANGELOG_ONLY = flag(
    "consumer.changelog-only", "Consumers keep changelogs, not snapshots."
)
TAG_CREATION_PERIOD_DURATION = duration(
    "tag.creation-period-duration", "Custom period of automatic tags."
)
TAG_BATCH_CUSTOMIZED_NAME = text("tag.batch.customized-name", "Tag name of batch commits.")
SINK_WATERMARK_TIME_ZONE = text(
    "sink.watermark-time-zone", "Time zone of watermarks in local time.", default="UTC"
)
SINK_PROCESS_TIME_ZONE = text(
    "sink.process-time-zone", "Time zone of commit times; default: local."
)
END_INPUT_CHECK_PARTITION_EXPIRE = flag(
    "end-input.check-partition-expire", "Check partition expiration after each batch."
)
