package oracle;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.options.ConfigOption;
import org.apache.paimon.options.FallbackKey;
import org.apache.paimon.options.MemorySize;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** The table options of this release, from the constants of {@link CoreOptions}. */
final class CoreOptionList {
    private CoreOptionList() {}

    static JsonNode list(JsonNode request) throws Exception {
        Field type = ConfigOption.class.getDeclaredField("clazz");
        type.setAccessible(true);
        ArrayNode options = Wire.JSON.createArrayNode();
        for (Field field : CoreOptions.class.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == ConfigOption.class) {
                field.setAccessible(true);
                ConfigOption<?> option = (ConfigOption<?>) field.get(null);
                options.add(describe(field, option, (Class<?>) type.get(option)));
            }
        }
        return Wire.JSON.createObjectNode().set("options", options);
    }

    private static ObjectNode describe(Field field, ConfigOption<?> option, Class<?> type) {
        ObjectNode found = Wire.JSON.createObjectNode();
        found.put("key", option.key());
        found.put("type", type.isEnum() ? "Enum" : type.getSimpleName());
        found.put("default", text(option.defaultValue()));
        ArrayNode values = found.putArray("values");
        if (type.isEnum()) {
            Arrays.stream(type.getEnumConstants()).map(CoreOptionList::text).forEach(values::add);
        }
        ArrayNode older = found.putArray("fallback_keys");
        for (FallbackKey key : option.fallbackKeys()) {
            older.add(key.getKey());
        }
        found.put("immutable", has(field, "Immutable"));
        found.put("documented", !has(field, "ExcludeFromDocumentation"));
        return found;
    }

    private static boolean has(Field field, String annotation) {
        for (Annotation one : field.getAnnotations()) {
            if (one.annotationType().getSimpleName().equals(annotation)) {
                return true;
            }
        }
        return false;
    }

    /** Durations in milliseconds and sizes in bytes, so that equal values have equal texts. */
    private static String text(Object value) {
        if (value instanceof Duration) {
            return Long.toString(((Duration) value).toMillis());
        }
        if (value instanceof MemorySize) {
            return Long.toString(((MemorySize) value).getBytes());
        }
        return value == null ? null : value.toString();
    }
}
