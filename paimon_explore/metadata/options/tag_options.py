"""Table options of tags and consumers.

Spec: maintenance/configurations.
"""

from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options.option_definition import choice, duration, flag, text, whole

TAG_AUTOMATIC_CREATION = choice(
    "tag.automatic-creation", "Clock of automatic tags.", default=of.TagCreationMode.NONE
)
TAG_CREATION_PERIOD = choice(
    "tag.creation-period", "Period of automatic tags.", default=of.TagCreationPeriod.DAILY
)
TAG_CREATION_DELAY = duration("tag.creation-delay", "Wait after a period's end.", default=0)
TAG_PERIOD_FORMATTER = choice(
    "tag.period-formatter", "Names of automatic tags.", default=of.TagPeriodFormatter.WITH_DASHES
)
TAG_NUM_RETAINED_MAX = whole("tag.num-retained-max", "Most automatic tags that stay.", default=None)
TAG_DEFAULT_TIME_RETAINED = duration(
    "tag.default-time-retained", "Life of a tag without an own one.", default=None
)
TAG_AUTOMATIC_COMPLETION = flag("tag.automatic-completion", "Create missed tags.", default=False)
TAG_CREATE_SUCCESS_FILE = flag("tag.create-success-file", "A file tells of a tag.", default=False)
TAG_TIME_EXPIRE_ENABLED = flag("tag.time-expire-enabled", "Tags expire by time.", default=True)
CONSUMER_ID = text("consumer-id", "Consumer whose progress is kept.", default=None)
CONSUMER_EXPIRATION_TIME = duration(
    "consumer.expiration-time", "Age at which a consumer goes.", default=None
)
CONSUMER_MODE = choice("consumer.mode", "When it is stored.", default=of.ConsumerMode.EXACTLY_ONCE)
CONSUMER_IGNORE_PROGRESS = flag("consumer.ignore-progress", "Start anew.", default=False)
CONSUMER_CHANGELOG_ONLY = flag(
    "consumer.changelog-only", "Consumers hold changelogs, not snapshots.", default=False
)
TAG_CREATION_PERIOD_DURATION = duration(
    "tag.creation-period-duration", "Period of automatic tags, of any length.", default=None
)
TAG_BATCH_CUSTOMIZED_NAME = text(
    "tag.batch.customized-name", "Name of the tag of batch commits.", default=None
)
SINK_WATERMARK_TIME_ZONE = text(
    "sink.watermark-time-zone", "Zone of watermarks that are local times.", default="UTC"
)
END_INPUT_CHECK_PARTITION_EXPIRE = flag(
    "end-input.check-partition-expire", "Look for old partitions after each batch.", default=False
)
