import { integerSetting, readSettings } from '@tollgate/platform/config/settings'
import { startCeilingServer } from './ceiling-server.ts'

const settings = {
  port: integerSetting('CEILING_PORT', 'Port on the loopback interface', undefined, {
    min: 1,
    max: 65_535,
  }),
}

await startCeilingServer(readSettings(settings, process.env).port)
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
