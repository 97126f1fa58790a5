import { expect, test } from 'vitest'
import { dataFolderAt } from './data-folder.ts'
import { chooseAddresses, sharedEnvironment } from './services.ts'

test.each([
  [true, '/data/demo.json'],
  [false, ''],
])('with a demo page %s, passes services the demo file %j', async (hasDemoPage, expected) => {
  const shared = {
    folder: dataFolderAt('/data'),
    hasDemoPage,
    addresses: await chooseAddresses({ publicPort: 0, mcpPort: 0, clickhousePort: 0 }),
    own: { log: true, hotState: true, postgres: true, clickhouse: true },
    databaseUrl: '',
    clickhousePassword: '',
    clickhouseReaderPassword: '',
    stripeWebhookSecret: undefined,
  }
  expect(sharedEnvironment(shared)['TOLLGATE_DEMO_FILE']).toBe(expected)
})
