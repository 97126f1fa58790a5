import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { deleteTopics, testBrokers } from '../src/testing/kafka-under-test.ts'
import { hasRedisServer } from '../src/testing/redis-server.ts'
import { appendRecords, checkHeads, startServer } from './note-lease-fleet.ts'
import { openKafkaMember, type Acknowledged, type UseServer } from './note-lease-process.ts'

it.skipIf(testBrokers === undefined || !hasRedisServer)(
  'a check sees what a process acknowledges that was suspended during a failover of Redis',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'note-lease-'))
    const [home, replica] = [
      await startServer(join(folder, 'a')),
      await startServer(join(folder, 'b')),
    ]
    await replica.call('REPLICAOF', '127.0.0.1', `${home.port}`)
    const namePrefix = `${randomUUID()}.`
    const urls = [home.url, replica.url]
    const own = await openKafkaMember(testBrokers!, namePrefix, urls)
    const other = forkAppender(namePrefix, urls)
    const exited = once(other, 'exit')
    const acknowledged = [0, 0]
    let ofOther = 0
    other.on('message', ({ acknowledged: heads }: Acknowledged) => {
      ofOther += 1
      for (const [place, head] of heads.entries()) {
        acknowledged[place] = Math.max(head, acknowledged[place]!)
      }
    })
    let isEnded = false
    const missed: string[] = []
    const loops = [
      appendRecords(own.log, 0, acknowledged, () => isEnded),
      ...[0, 1].map((partition) =>
        checkHeads(
          own.log,
          partition,
          acknowledged,
          () => isEnded,
          (each) => {
            if (each !== undefined) missed.push(each)
          },
        ),
      ),
    ]
    const trustsAgain = (than: number): Promise<void> =>
      expect.poll(() => own.lease.counts.trusted).toBeGreaterThan(than + 50)
    try {
      await trustsAgain(0)
      await expect.poll(() => ofOther).toBeGreaterThan(20)
      other.kill('SIGSTOP')
      // The former home stays a master, and the suspended process is connected to it.
      await replica.call('REPLICAOF', 'NO', 'ONE')
      own.server = 1
      await trustsAgain(own.lease.counts.trusted)
      const before = ofOther
      other.kill('SIGCONT')
      await sleep(1_500)
      other.send({ server: 1 } satisfies UseServer)
      await expect.poll(() => ofOther).toBeGreaterThan(before + 20)
    } finally {
      isEnded = true
      other.kill('SIGKILL')
      await Promise.all([...loops, exited])
      await own.close()
      await Promise.all([home.kill(), replica.kill(), deleteTopics(testBrokers!, namePrefix)])
      await rm(folder, { recursive: true, force: true })
    }
    expect(missed).toEqual([])
  },
)

function forkAppender(namePrefix: string, urls: readonly string[]): ChildProcess {
  const main = fileURLToPath(new URL('./note-lease-process.ts', import.meta.url))
  return fork(main, [testBrokers!.join(','), namePrefix, ...urls], {
    execArgv: ['--conditions=source', '--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}
