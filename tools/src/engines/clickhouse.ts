import { join } from 'node:path'
import { host } from '@tollgate/deploy/standalone/ports'
import { engineOf, type Engine, type EngineOptions } from './engine.ts'
import { answersHttp } from './probes.ts'
import { readOrCreatePassword } from '@tollgate/deploy/standalone/password-file'
import { servicePrograms } from '@tollgate/deploy/standalone/service-programs'
import { startServer, type Command } from './server.ts'

export type ClickHouse = Engine & { readonly password: string }

/** Starts ClickHouse behind Tollgate's own gateway, because packages of a ClickHouse server are not available on all systems. */
export async function startClickHouse(options: EngineOptions, port: number): Promise<ClickHouse> {
  const password = await readOrCreatePassword(join(options.root, 'clickhouse'))
  const server = await startServer(
    {
      engine: 'clickhouse',
      name: 'clickhouse',
      port,
      portVariable: 'TOLLGATE_ENGINES_CLICKHOUSE_PORT',
      stopSignal: 'SIGTERM',
      isReady: () => clickHouseAnswers(options.root, port),
      prepare: async (folder) =>
        prepareGateway(port, folder, password, await readerPasswordIn(options.root)),
    },
    options,
  )
  return { ...engineOf(clickHouseUrl(port), [server]), password }
}

export function clickHouseUrl(port: number): string {
  return `http://${host}:${port}`
}

/** Returns whether the gateway answers. It only answers requests with its password. */
export async function clickHouseAnswers(root: string, port: number): Promise<boolean> {
  const password = await readOrCreatePassword(join(root, 'clickhouse'))
  return await answersHttp(`${clickHouseUrl(port)}/ping`, { 'X-ClickHouse-Key': password })
}

/** Returns the password of the read-only user for people and tools. */
export function readerPasswordIn(root: string): Promise<string> {
  return readOrCreatePassword(join(root, 'clickhouse', 'data-team'))
}

function prepareGateway(
  port: number,
  folder: string,
  password: string,
  readerPassword: string,
): Command {
  return {
    file: process.execPath,
    args: [servicePrograms.chdbGateway],
    environment: {
      CHDB_GATEWAY_FOLDER: join(folder, 'data'),
      CHDB_GATEWAY_PORT: String(port),
      CHDB_GATEWAY_PASSWORD: password,
      CHDB_GATEWAY_READER_PASSWORD: readerPassword,
      // Every running statement uses one thread of libuv. With the default of 4, statements could use all of them.
      UV_THREADPOOL_SIZE: '8',
    },
  }
}
