"""Table options of tags and consumers.

Spec: maintenance/configurations.
"""

from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options.option_definition import choice, duration, flag, integer, text

TAG_AUTOMATIC_CREATION = choice("tag.automatic-creation", default=of.TagCreationMode.NONE)
TAG_CREATION_PERIOD = choice("tag.creation-period", default=of.TagCreationPeriod.DAILY)
TAG_CREATION_DELAY = duration("tag.creation-delay", default=0)
TAG_PERIOD_FORMATTER = choice("tag.period-formatter", default=of.TagPeriodFormatter.WITH_DASHES)
TAG_NUM_RETAINED_MAX = integer("tag.num-retained-max")
TAG_DEFAULT_TIME_RETAINED = duration("tag.default-time-retained")
TAG_AUTOMATIC_COMPLETION = flag("tag.automatic-completion")
TAG_CREATE_SUCCESS_FILE = flag("tag.create-success-file")
TAG_TIME_EXPIRE_ENABLED = flag("tag.time-expire-enabled", default=True)
CONSUMER_ID = text("consumer-id")
CONSUMER_EXPIRATION_TIME = duration("consumer.expiration-time")
CONSUMER_IGNORE_PROGRESS = flag("consumer.ignore-progress")
CONSUMER_CHANGELOG_ONLY = flag("consumer.changelog-only")
TAG_CREATION_PERIOD_DURATION = duration("tag.creation-period-duration")
TAG_BATCH_CUSTOMIZED_NAME = text("tag.batch.customized-name")
SINK_WATERMARK_TIME_ZONE = text("sink.watermark-time-zone", default="UTC")
SINK_PROCESS_TIME_ZONE = text("sink.process-time-zone")
END_INPUT_CHECK_PARTITION_EXPIRE = flag("end-input.check-partition-expire")
