import { integerSetting, readSettings, textSetting } from '../config/settings.ts'
import { startChdbGateway } from './chdb-gateway.ts'

/** The gateway as a process of its own. Reports its port as `{"port":…}`, to its parent or as a line on stdout. */
const settings = {
  folder: textSetting('CHDB_GATEWAY_FOLDER', 'folder of the ClickHouse data'),
  port: integerSetting('CHDB_GATEWAY_PORT', 'port on loopback, 0 for a free one', 0, {
    min: 0,
    max: 65_535,
  }),
  password: textSetting(
    'CHDB_GATEWAY_PASSWORD',
    'password of the user default, who has all rights',
  ),
  readerPassword: textSetting(
    'CHDB_GATEWAY_READER_PASSWORD',
    'password of the read-only user data_team; empty refuses that user',
    '',
  ),
}

const orphanStopMs = 2_000

async function main(): Promise<void> {
  const { readerPassword, ...config } = readSettings(settings, process.env)
  const gateway = await startChdbGateway({
    ...config,
    readerPassword: readerPassword === '' ? undefined : readerPassword,
  })
  let isStopping = false
  const stop = (): void => {
    if (isStopping) return
    isStopping = true
    void gateway.stop().finally(() => process.exit(0))
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // A gateway whose parent is gone keeps the folder from its successor, so it does not wait for long statements:
  // the engine takes a kill at any moment.
  const stopOrphan = (): void => {
    stop()
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), orphanStopMs).unref()
  }
  process.once('disconnect', stopOrphan)
  // The parent may have gone while the engine was starting. Undefined: there never was one.
  if (process.connected === false) return stopOrphan()
  const report = { port: gateway.port }
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(report)}\n`)
  else process.send(report)
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
