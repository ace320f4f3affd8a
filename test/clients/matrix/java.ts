import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCache } from '../../tool-cache.ts';
import { isHere, runInstaller } from '../run-program.ts';
import { clientsIn, type Language, runFile } from './client.ts';

const ARTIFACTS = [
  'com.squareup.okhttp3:okhttp-jvm:5.3.2',
  'org.apache.httpcomponents.client5:httpclient5:5.5.1',
  'org.apache.httpcomponents:httpclient:4.5.14',
  'org.springframework:spring-web:6.2.14',
  'com.konghq:unirest-java-core:4.5.1',
  'org.slf4j:slf4j-nop:2.0.17',
];

/** A class `Pull` whose `main` writes the report. In its body, `full` is the complete URL. */
function classOf(program: string): string {
  const lines = program.split('\n');
  const isImport = (line: string) => line.startsWith('import ');
  return `${lines.filter(isImport).join('\n')}
import java.net.*;
import java.nio.file.*;
public class Pull {
  public static void main(String[] arguments) throws Exception {
    String text = URLEncoder.encode(System.getenv("TEXT"), "UTF-8");
    String full = System.getenv("URL") + "&filter%5BDeviceOrProxy%5D=" + text;
    String token = "Bearer " + System.getenv("TOKEN");
    Path out = Path.of(System.getenv("OUT"));
${lines.filter((line) => !isImport(line)).join('\n')}
  }
}`;
}

export const javaClients: Language = {
  name: 'Java',
  clients: clientsIn(
    `
## Java HttpClient
import java.net.http.*;
    HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    HttpRequest request = HttpRequest.newBuilder(URI.create(full)).header("Authorization", token).build();
    HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (response.statusCode() != 200) throw new Exception(new String(response.body()));
    Files.write(out, response.body());
## Java HttpURLConnection
    URLConnection connection = new URL(full).openConnection();
    connection.setRequestProperty("Authorization", token);
    try (var content = connection.getInputStream()) { Files.copy(content, out, StandardCopyOption.REPLACE_EXISTING); }
## Java OkHttp
import okhttp3.*;
    OkHttpClient client = new OkHttpClient();
    try (Response response = client.newCall(new Request.Builder().url(full).header("Authorization", token).build()).execute()) {
      if (!response.isSuccessful()) throw new Exception(response.body().string());
      Files.write(out, response.body().bytes());
    }
    client.dispatcher().executorService().shutdown();
## Java Apache HttpClient 5
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.*;
import org.apache.hc.core5.http.io.entity.EntityUtils;
    HttpGet request = new HttpGet(full);
    request.setHeader("Authorization", token);
    CloseableHttpClient client = HttpClients.createDefault();
    byte[] body = client.execute(request, response -> {
      byte[] bytes = EntityUtils.toByteArray(response.getEntity());
      if (response.getCode() != 200) throw new java.io.IOException(response.getCode() + new String(bytes));
      return bytes;
    });
    Files.write(out, body);
## Java Apache HttpClient 4
import org.apache.http.client.methods.*;
import org.apache.http.impl.client.*;
import org.apache.http.util.EntityUtils;
    HttpGet request = new HttpGet(full);
    request.setHeader("Authorization", token);
    CloseableHttpResponse response = HttpClients.createDefault().execute(request);
    byte[] body = EntityUtils.toByteArray(response.getEntity());
    if (response.getStatusLine().getStatusCode() != 200) throw new Exception(new String(body));
    Files.write(out, body);
## Java Spring RestTemplate
import org.springframework.http.*;
import org.springframework.web.client.RestTemplate;
    HttpHeaders headers = new HttpHeaders();
    headers.set("Authorization", token);
    Files.write(out, new RestTemplate().exchange(URI.create(full), HttpMethod.GET, new HttpEntity<>(headers), byte[].class).getBody());
## Java Unirest
import kong.unirest.core.HttpResponse;
import kong.unirest.core.Unirest;
    HttpResponse<byte[]> response = Unirest.get(System.getenv("URL")).queryString("filter[DeviceOrProxy]", System.getenv("TEXT")).header("Authorization", token).asBytes();
    if (!response.isSuccess()) throw new Exception(new String(response.getBody()));
    Files.write(out, response.getBody());
`,
    classOf,
  ),
  // A Java program in one source file needs the compiler, which a JRE lacks.
  runtime: ['javac', '--version'],
  async prepare() {
    if (!(await isHere('mvn', '-version'))) return undefined;
    const dependencies = ARTIFACTS.map((artifact) => {
      const [group, name, version] = artifact.split(':');
      return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
    });
    const home = await toolCache('java-clients', ARTIFACTS, async (directory) => {
      const pom = join(directory, 'pom.xml');
      await writeFile(
        pom,
        `<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>${dependencies.join('')}</dependencies></project>`,
      );
      const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
      await runInstaller('mvn', ['-q', '-B', '-f', pom, goal, `-DoutputDirectory=${directory}`]);
    });
    return runFile('java', 'Pull.java', ['-cp', join(home, '*')]);
  },
};
