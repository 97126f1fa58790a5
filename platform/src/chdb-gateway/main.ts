import { integerSetting, readSettings, textSetting } from '../config/settings.ts'
import { startChdbGateway } from './chdb-gateway.ts'

/** Runs the gateway as a separate process. Reports its port as `{"port":…}`, to its parent or as a line on stdout. */
const settings = {
  folder: textSetting('CHDB_GATEWAY_FOLDER', 'Folder of the ClickHouse data'),
  port: integerSetting('CHDB_GATEWAY_PORT', 'Port on loopback; 0 selects a free one', 0, {
    min: 0,
    max: 65_535,
  }),
  password: textSetting(
    'CHDB_GATEWAY_PASSWORD',
    'Password of the user default, which has all rights',
  ),
  readerPassword: textSetting(
    'CHDB_GATEWAY_READER_PASSWORD',
    'Password of the read-only user data_team; if empty, that user is refused',
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
  // A gateway whose parent has exited blocks the folder for its successor, so it does not wait for long statements. Killing the
  // engine is safe at any moment.
  const stopOrphan = (): void => {
    stop()
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), orphanStopMs).unref()
  }
  process.once('disconnect', stopOrphan)
  // The parent may have exited while the engine was starting. Undefined means that there is no parent.
  if (process.connected === false) return stopOrphan()
  const report = { port: gateway.port }
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(report)}\n`)
  else process.send(report)
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
