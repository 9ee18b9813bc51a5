package oracle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Database;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.catalog.PropertyChange;
import org.apache.paimon.options.Options;
import org.apache.paimon.partition.Partition;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.types.DataField;
import org.apache.paimon.view.View;
import org.apache.paimon.view.ViewImpl;

/**
 * Catalogs of any kind by their options: databases, names of tables, views.
 *
 * <p>A request holds the options as {@code catalog}; its {@code table} is an identifier such as
 * {@code db.t}. Releases before 1.4 lack some of these classes, so this file is compiled for newer
 * ones only, and reached by name.
 */
public final class Catalogs {
    private static final Map<String, Catalog> OPENED = new HashMap<>();

    private Catalogs() {}

    /** The catalog of a request; it is opened once, and caches no tables. */
    public static synchronized Catalog of(JsonNode options) {
        return OPENED.computeIfAbsent(options.toString(), key -> {
            Options given = Options.fromMap(Tables.strings(options));
            given.set("cache-enabled", "false");
            return CatalogFactory.createCatalog(CatalogContext.create(given));
        });
    }

    /** Answers a request whose command begins with {@code catalog_}. */
    public static JsonNode answer(JsonNode request) throws Exception {
        Catalog catalog = of(request.get("catalog"));
        String name = request.get("table").asText();
        switch (request.get("command").asText()) {
            case "catalog_databases":
                return Wire.JSON.valueToTree(catalog.listDatabases());
            case "catalog_database":
                return database(catalog.getDatabase(name));
            case "catalog_create_database":
                catalog.createDatabase(name, false, Tables.strings(request.get("properties")));
                return done();
            case "catalog_alter_database":
                catalog.alterDatabase(name, changes(request), false);
                return done();
            case "catalog_drop_database":
                catalog.dropDatabase(name, false, request.path("cascade").asBoolean());
                return done();
            case "catalog_tables":
                return Wire.JSON.valueToTree(catalog.listTables(name));
            case "catalog_rename_table":
                catalog.renameTable(id(name), id(request.get("target").asText()), false);
                return done();
            case "catalog_partitions":
                return partitions(catalog.listPartitions(id(name)));
            case "catalog_close":
                catalog.close();
                OPENED.remove(request.get("catalog").toString());
                return done();
            default:
                return view(catalog, name, request);
        }
    }

    private static JsonNode view(Catalog catalog, String name, JsonNode request) throws Exception {
        switch (request.get("command").asText()) {
            case "catalog_views":
                return Wire.JSON.valueToTree(catalog.listViews(name));
            case "catalog_view":
                return view(catalog.getView(id(name)));
            case "catalog_create_view":
                catalog.createView(id(name), newView(id(name), request), false);
                return done();
            case "catalog_rename_view":
                catalog.renameView(id(name), id(request.get("target").asText()), false);
                return done();
            case "catalog_drop_view":
                catalog.dropView(id(name), false);
                return done();
            default:
                throw new IllegalArgumentException("unknown command " + request.get("command"));
        }
    }

    private static Identifier id(String name) {
        return Identifier.fromString(name);
    }

    private static ObjectNode done() {
        return Wire.JSON.createObjectNode();
    }

    private static JsonNode database(Database found) {
        ObjectNode reply = done();
        reply.put("comment", found.comment().orElse(null));
        reply.set("properties", Wire.JSON.valueToTree(found.options()));
        return reply;
    }

    private static List<PropertyChange> changes(JsonNode request) {
        List<PropertyChange> changes = new ArrayList<>();
        Tables.strings(request.get("properties"))
                .forEach((key, value) -> changes.add(PropertyChange.setProperty(key, value)));
        for (String key : Tables.list(request.get("removed"))) {
            changes.add(PropertyChange.removeProperty(key));
        }
        return changes;
    }

    private static JsonNode partitions(List<Partition> found) {
        ArrayNode reply = Wire.JSON.createArrayNode();
        for (Partition partition : found) {
            ObjectNode one = reply.addObject();
            one.set("spec", Wire.JSON.valueToTree(partition.spec()));
            one.put("record_count", partition.recordCount());
            one.put("file_count", partition.fileCount());
            one.put("file_size_in_bytes", partition.fileSizeInBytes());
            one.put("done", partition.done());
        }
        return reply;
    }

    private static JsonNode view(View found) throws Exception {
        ObjectNode reply = done();
        reply.set("fields", Wire.fields(found.rowType()));
        reply.put("query", found.query());
        reply.set("dialects", Wire.JSON.valueToTree(found.dialects()));
        reply.put("comment", found.comment().orElse(null));
        reply.set("options", Wire.JSON.valueToTree(found.options()));
        return reply;
    }

    private static View newView(Identifier name, JsonNode request) throws Exception {
        List<DataField> fields = new ArrayList<>();
        for (JsonNode field : request.get("fields")) {
            String column = field.get("name").asText();
            fields.add(new DataField(fields.size(), column, Wire.type(field.get("type"))));
        }
        return new ViewImpl(
                name,
                fields,
                request.get("query").asText(),
                Tables.strings(request.get("dialects")),
                Tables.text(request, "comment"),
                request.hasNonNull("options")
                        ? Tables.strings(request.get("options"))
                        : Collections.emptyMap());
    }
}
