import { join } from 'node:path'
import { host } from '@tollgate/deploy/standalone/ports'
import { engineOf, type Engine, type EngineOptions } from './engine.ts'
import { answersHttp } from './probes.ts'
import { javaArtifacts } from './java-artifacts.ts'
import { requireProgram } from './programs.ts'
import { startServer, type Command } from './server.ts'

/** Starts Apicurio Registry. The address is that of its Confluent-compatible API. It does not need the other engines. */
export async function startSchemaRegistry(options: EngineOptions, port: number): Promise<Engine> {
  const server = await startServer(
    {
      engine: 'schema-registry',
      name: 'schema-registry',
      port,
      portVariable: 'TOLLGATE_ENGINES_SCHEMA_REGISTRY_PORT',
      stopSignal: 'SIGTERM',
      isReady: () => registryAnswers(port),
      prepare: (folder) => prepareRegistry(options, port, folder),
    },
    options,
  )
  return engineOf(schemaRegistryUrl(port), [server])
}

export function schemaRegistryUrl(port: number): string {
  return `http://${host}:${port}/apis/ccompat/v7`
}

export function registryAnswers(port: number): Promise<boolean> {
  return answersHttp(`${schemaRegistryUrl(port)}/subjects`)
}

async function prepareRegistry(
  options: EngineOptions,
  port: number,
  folder: string,
): Promise<Command> {
  const java = await requireProgram('java', options.print)
  const { registryJar } = await javaArtifacts(options.print)
  const properties = {
    'quarkus.http.host': host,
    'quarkus.http.port': String(port),
    'quarkus.http.access-log.enabled': 'false',
    'apicurio.storage.kind': 'sql',
    'apicurio.storage.sql.kind': 'h2',
    // Writes are not delayed, so that the id of a schema is never assigned again, even after a kill.
    'apicurio.datasource.url': `jdbc:h2:file:${join(folder, 'registry')};WRITE_DELAY=0`,
  }
  return {
    file: java,
    args: [
      '-Xmx256m',
      // The registry then starts sooner. It gets few requests, so its speed does not matter.
      '-XX:TieredStopAtLevel=1',
      ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
      '-jar',
      registryJar,
    ],
  }
}
