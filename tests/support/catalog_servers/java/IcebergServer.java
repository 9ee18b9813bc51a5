import java.util.Map;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** Iceberg's own REST catalog for tests, with its tables in memory. Prints its URL. */
public class IcebergServer {
    public static void main(String[] args) throws Exception {
        InMemoryCatalog catalog = new InMemoryCatalog();
        catalog.initialize("tests", Map.of("warehouse", "/warehouse"));
        ServletContextHandler context = new ServletContextHandler();
        context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        System.out.println("READY http://127.0.0.1:" + connector.getLocalPort());
        System.out.flush();
        while (System.in.read() >= 0) {}
        System.exit(0);
    }
}
