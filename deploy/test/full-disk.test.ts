import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createTollgateClient } from '../src/client/tollgate-client.ts'
import { runToEnd, startInstance } from '../../tools/src/instance/instance.ts'

const sizeMegabytes = 160

const disk = mkdtempSync(join(tmpdir(), 'tollgate-disk-'))
const options = ['-t', 'tmpfs', '-o', `size=${sizeMegabytes}M`, 'tmpfs', disk]
// Mounting requires a privilege that not every environment has.
const hasDisk = spawnSync('/bin/mount', options).status === 0

afterAll(() => {
  if (hasDisk) execFileSync('/bin/umount', [disk])
  rmSync(disk, { recursive: true })
})

/** Writes until the disk is full or has only `leaveMegabytes` left. */
function fillDisk(leaveMegabytes: number): void {
  const file = openSync(join(disk, 'fill'), 'w')
  const blocks = [Buffer.alloc(1_048_576), Buffer.alloc(4_096)]
  try {
    for (const block of blocks) {
      try {
        while (freeMegabytes() > leaveMegabytes || leaveMegabytes === 0) writeSync(file, block)
      } catch {
        // The disk is full for blocks of this size.
      }
    }
  } finally {
    closeSync(file)
  }
}

function freeMegabytes(): number {
  const { bavail, bsize } = statfsSync(disk)
  return (bavail * bsize) / 1_048_576
}

function freeDisk(): void {
  rmSync(join(disk, 'fill'), { force: true })
}

describe('a full disk', () => {
  test.for([0, 20])('refuses a first start with %i MB left, in one line', async (left, context) => {
    if (!hasDisk) return context.skip('mounting a small disk is not allowed here')
    fillDisk(left)
    const dataDir = join(disk, `first-${left}`)
    const { code, output } = await runToEnd({ dataDir, port: 0, environment: process.env })
    freeDisk()
    rmSync(dataDir, { recursive: true, force: true })
    expect(code).toBe(1)
    expect(output.trim().split('\n')).toEqual([
      `Starting Tollgate on ${dataDir} ...`,
      `The disk that holds ${dataDir} is full. Free some space, or choose another folder with TOLLGATE_DATA_DIR.`,
    ])
  })

  test('answers usage with 503, keeps accepted records, and continues once there is space', async (context) => {
    if (!hasDisk) return context.skip('mounting a small disk is not allowed here')
    const dataDir = join(disk, 'data')
    const instance = await startInstance({ dataDir, port: 0, environment: process.env })
    const { baseUrl, sandboxKey: key, productRef } = instance.credentials
    const client = createTollgateClient({ baseUrl, key, connectionsMax: 4, timeoutMs: 15_000 })
    const customerRef = 'user_grace'
    await client.checkLimit(customerRef, productRef)
    let acked = 0
    const record = async (): Promise<number> => {
      const padding = 'x'.repeat(8_000)
      const events = Array.from({ length: 50 }, () => ({ customerRef, metadata: { padding } }))
      const { status } = await client.send('POST', '/v1/sdk/usages/bulk', { events })
      if (status === 200) acked += events.length
      return status
    }
    expect(await record()).toBe(200)
    fillDisk(0)
    const statuses = new Set<number>()
    for (let request = 0; request < 20; request++) statuses.add(await record())
    expect(statuses).toContain(503)
    expect([...statuses].filter((status) => status !== 503 && status !== 200)).toEqual([])

    freeDisk()
    await expect.poll(record, { timeout: 15_000 }).toBe(200)
    expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(1_000 - acked)
    const meterRef = await client.requestsMeter()
    const query = { from: '2000-01-01', to: '2100-01-01', customerRef }
    await expect
      .poll(async () => (await client.meterUsage(meterRef, query)).count, { timeout: 20_000 })
      .toBe(acked)
    client.close()
    expect(await instance.stop()).toBe(0)
  })
})
