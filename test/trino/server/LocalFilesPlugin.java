import static com.google.inject.util.Modules.EMPTY_MODULE;

import io.trino.filesystem.local.LocalFileSystemFactory;
import io.trino.plugin.hive.InternalHiveConnectorFactory;
import io.trino.spi.Plugin;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The Hive connector on files of this machine, `local:///tmp/…`: Trino holds that file system, but its own
 * connector can't be configured to use it, and reaches local files only through Hadoop.
 */
public final class LocalFilesPlugin implements Plugin {
  @Override
  public Iterable<ConnectorFactory> getConnectorFactories() {
    return List.of(new LocalFilesConnectorFactory());
  }

  private static final class LocalFilesConnectorFactory implements ConnectorFactory {
    @Override
    public String getName() {
      return "hive_on_local_files";
    }

    @Override
    public Connector create(String catalog, Map<String, String> config, ConnectorContext context) {
      var files = new LocalFileSystemFactory(Path.of("/"));
      return InternalHiveConnectorFactory.createConnector(
          catalog, config, context, EMPTY_MODULE, Optional.empty(), Optional.of(files), Optional.empty());
    }
  }
}
