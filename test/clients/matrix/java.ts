import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCache } from '../../tool-cache.ts';
import { isHere, runInstaller, runProgram } from '../run-program.ts';
import type { Language } from './client.ts';

const ARTIFACTS = [
  'com.squareup.okhttp3:okhttp-jvm:5.3.2',
  'org.apache.httpcomponents.client5:httpclient5:5.5.1',
  'org.apache.httpcomponents:httpclient:4.5.14',
  'org.springframework:spring-web:6.2.14',
  'com.konghq:unirest-java-core:4.5.1',
  'org.slf4j:slf4j-nop:2.0.17',
];

/** A class `Pull` whose `main` writes the report. In its body, `full` is the complete URL. */
const pull = (imports: string, body: string) => `${imports}
import java.net.*;
import java.nio.file.*;
public class Pull {
  public static void main(String[] arguments) throws Exception {
    String text = URLEncoder.encode(System.getenv("TEXT"), "UTF-8");
    String full = System.getenv("URL") + "&filter%5BDeviceOrProxy%5D=" + text;
    String token = "Bearer " + System.getenv("TOKEN");
    Path out = Path.of(System.getenv("OUT"));
${body}
  }
}`;

export const javaClients: Language = {
  name: 'Java',
  clients: [
    {
      name: 'Java HttpClient',
      why: 'sends the token on to storage, and follows 4 redirects',
      program: pull(
        'import java.net.http.*;',
        `    HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    HttpRequest request = HttpRequest.newBuilder(URI.create(full)).header("Authorization", token).build();
    HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (response.statusCode() != 200) throw new Exception(new String(response.body()));
    Files.write(out, response.body());`,
      ),
      cures: [
        { from: 'Redirect.NORMAL', to: 'Redirect.NEVER' },
        {
          from: '    if (response.statusCode() != 200)',
          to: `    while (response.statusCode() == 303) {
      URI next = response.uri().resolve(response.headers().firstValue("Location").get());
      response = client.send(HttpRequest.newBuilder(next).build(), HttpResponse.BodyHandlers.ofByteArray());
    }
    if (response.statusCode() != 200)`,
        },
      ],
    },
    {
      name: 'Java HttpURLConnection',
      program: pull(
        '',
        `    URLConnection connection = new URL(full).openConnection();
    connection.setRequestProperty("Authorization", token);
    try (var content = connection.getInputStream()) { Files.copy(content, out, StandardCopyOption.REPLACE_EXISTING); }`,
      ),
    },
    {
      name: 'Java OkHttp',
      why: 'waits 10 s for an answer',
      program: pull(
        'import okhttp3.*;',
        `    OkHttpClient client = new OkHttpClient();
    try (Response response = client.newCall(new Request.Builder().url(full).header("Authorization", token).build()).execute()) {
      if (!response.isSuccessful()) throw new Exception(response.body().string());
      Files.write(out, response.body().bytes());
    }
    client.dispatcher().executorService().shutdown();`,
      ),
      cures: [
        {
          from: 'new OkHttpClient();',
          to: 'new OkHttpClient.Builder().readTimeout(java.time.Duration.ofSeconds(60)).build();',
        },
      ],
    },
    {
      name: 'Java Apache HttpClient 5',
      why: 'follows no redirect of a request that has a token',
      program: pull(
        `import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.*;
import org.apache.hc.core5.http.io.entity.EntityUtils;`,
        `    HttpGet request = new HttpGet(full);
    request.setHeader("Authorization", token);
    CloseableHttpClient client = HttpClients.createDefault();
    byte[] body = client.execute(request, response -> {
      byte[] bytes = EntityUtils.toByteArray(response.getEntity());
      if (response.getCode() != 200) throw new java.io.IOException(response.getCode() + new String(bytes));
      return bytes;
    });
    Files.write(out, body);`,
      ),
      cures: [
        {
          from: '    CloseableHttpClient client = HttpClients.createDefault();',
          to: `    CloseableHttpClient client = HttpClients.custom().setRedirectStrategy(new org.apache.hc.client5.http.impl.DefaultRedirectStrategy() {
      @Override public boolean isRedirectAllowed(
          org.apache.hc.core5.http.HttpHost from, org.apache.hc.core5.http.HttpHost to,
          org.apache.hc.core5.http.HttpRequest redirect, org.apache.hc.core5.http.protocol.HttpContext context) {
        if (!from.equals(to)) redirect.removeHeaders("Authorization");
        return true;
      }
    }).build();`,
        },
      ],
    },
    {
      name: 'Java Apache HttpClient 4',
      why: 'sends the token on to storage',
      program: pull(
        `import org.apache.http.client.methods.*;
import org.apache.http.impl.client.*;
import org.apache.http.util.EntityUtils;`,
        `    HttpGet request = new HttpGet(full);
    request.setHeader("Authorization", token);
    CloseableHttpResponse response = HttpClients.createDefault().execute(request);
    byte[] body = EntityUtils.toByteArray(response.getEntity());
    if (response.getStatusLine().getStatusCode() != 200) throw new Exception(new String(body));
    Files.write(out, body);`,
      ),
      cures: [
        {
          from: 'HttpClients.createDefault()',
          to: `HttpClients.custom().setRedirectStrategy(new DefaultRedirectStrategy() {
      @Override public HttpUriRequest getRedirect(
          org.apache.http.HttpRequest from, org.apache.http.HttpResponse answer,
          org.apache.http.protocol.HttpContext context) throws org.apache.http.ProtocolException {
        // HttpClient copies the first request's headers, the token too, only to a redirect that has none.
        return RequestBuilder.get(super.getRedirect(from, answer, context).getURI()).addHeader("Accept", "text/csv").build();
      }
    }).build()`,
        },
      ],
    },
    {
      name: 'Java Spring RestTemplate',
      program: pull(
        `import org.springframework.http.*;
import org.springframework.web.client.RestTemplate;`,
        `    HttpHeaders headers = new HttpHeaders();
    headers.set("Authorization", token);
    Files.write(out, new RestTemplate().exchange(URI.create(full), HttpMethod.GET, new HttpEntity<>(headers), byte[].class).getBody());`,
      ),
    },
    {
      name: 'Java Unirest',
      why: 'sends the token on to storage',
      program: pull(
        'import kong.unirest.core.HttpResponse;\nimport kong.unirest.core.Unirest;',
        `    HttpResponse<byte[]> response = Unirest.get(System.getenv("URL")).queryString("filter[DeviceOrProxy]", System.getenv("TEXT")).header("Authorization", token).asBytes();
    if (!response.isSuccess()) throw new Exception(new String(response.getBody()));
    Files.write(out, response.getBody());`,
      ),
      cures: [
        {
          from: '    HttpResponse<byte[]> response = ',
          to: '    Unirest.config().followRedirects(false);\n    HttpResponse<byte[]> response = ',
        },
        {
          from: '    if (!response',
          to: `    for (URI at = URI.create(full); response.getStatus() == 303; ) {
      at = at.resolve(response.getHeaders().getFirst("Location"));
      response = Unirest.get(at.toString()).asBytes();
    }
    if (!response`,
        },
      ],
    },
  ],
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
    return async (source, cwd, env) => {
      const file = join(cwd, 'Pull.java');
      await writeFile(file, source);
      return runProgram('java', ['-cp', join(home, '*'), file], { cwd, env });
    };
  },
};
