import java.nio.file.Path;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/** A Neo4j server: `java TestServer.java HOME SETTINGS_FILE`. Prints its Bolt port; ends when its standard input does. */
public final class TestServer {
    public static void main(String[] args) throws Exception {
        DatabaseManagementService server = new DatabaseManagementServiceBuilder(Path.of(args[0]))
                .loadPropertiesFromFile(Path.of(args[1]))
                .build();
        GraphDatabaseAPI database = (GraphDatabaseAPI) server.database("neo4j");
        int port = database.getDependencyResolver()
                .resolveDependency(ConnectorPortRegister.class)
                .getLocalAddress(ConnectorType.BOLT)
                .getPort();
        System.out.println("READY " + port);
        while (System.in.read() >= 0) {}
        server.shutdown();
    }
}
