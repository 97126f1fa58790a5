import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { runDemo } from '../demo/run-demo.ts'
import { startInstance, type Instance } from '../instance/instance.ts'
import { makeTemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { findFreePort } from '@tollgate/deploy/standalone/ports'
import { payCheckout } from './pay-checkout.ts'
import { surviveKill } from './survive-kill.ts'

/*
 * Tests a temporary installation on the current version of Node within a minute. `npm run smoke:nodes` runs it on the supported
 * versions that are not installed.
 */

const demo = { seconds: 3, agents: 8, seed: 1 }

const folder = await makeTemporaryFolder('smoke')
const options = {
  dataDir: `${folder.path}/data`,
  port: await findFreePort(new Set()),
  environment: process.env,
}
let instance: Instance | undefined
try {
  await step('start', async () => {
    instance = await startInstance(options)
  })
  const { baseUrl, sandboxKey: key } = instance!.credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 16, timeoutMs: 20_000 })
  await step('demo', async () => {
    const said: string[] = []
    const agrees = await runDemo(instance!.credentials, demo, (line) => said.push(line))
    if (!agrees) throw new Error(said.join('\n'))
  })
  await step('checkout paid by card', () => payCheckout(client))
  await step('kill -9 under load, restart, sums', async () => {
    const killAndRestart = async (): Promise<void> => {
      await instance!.kill()
      instance = await startInstance(options)
    }
    return `${await surviveKill({ client, ...options, killAndRestart })} records agree`
  })
  client.close()
  await step('stop', async () => {
    const code = await instance!.stop()
    if (code !== 0) throw new Error(`It ended with exit code ${code}:\n${instance!.output()}`)
    instance = undefined
  })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  if (instance !== undefined) console.error(instance.output())
  process.exitCode = 1
} finally {
  await instance?.kill()
  await folder.remove()
}

/** Runs a step and prints its result and duration. */
async function step(name: string, act: () => Promise<string | void>): Promise<void> {
  const startedMs = performance.now()
  const result = await act()
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  console.log(`  ${name}: ${result === undefined ? '' : `${result}, `}${seconds} s`)
}
