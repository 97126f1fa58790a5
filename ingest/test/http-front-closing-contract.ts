import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { expect, it, vi } from 'vitest'
import type { CreateHttpFront } from '../src/http/http-front.ts'
import { FrontUnderTest } from './front-under-test.ts'
import { requestText } from './raw-connection.ts'

/** The behaviour of every HttpFront at a close, and if it cannot start. */
export function describeClosing(
  under: () => FrontUnderTest,
  create: () => Promise<CreateHttpFront>,
): void {
  it('answers requests in flight, then closes its connections', async () => {
    const busy = await under().connect()
    const idle = await under().connect()
    await busy.write(requestText({ target: '/gated' }, 'x'))
    await isAsked(under())
    const closed = under().front.close(5_000)
    await sleep(20)
    under().openGate()
    const answer = await busy.answer()
    expect(answer?.body).toBe('{"gated":true}')
    expect(answer?.headers.get('connection')).toBe('close')
    await closed
    await idle.closed()
    await expect(under().connect()).rejects.toThrow('ECONNREFUSED')
  })

  it('does not wait longer than the grace period', async () => {
    const connection = await under().connect()
    await connection.write(requestText({ target: '/gated' }, 'x'))
    await isAsked(under())
    const startedMs = performance.now()
    await under().front.close(50)
    expect(performance.now() - startedMs).toBeLessThan(2_000)
    expect(await connection.answer()).toBeUndefined()
    under().openGate()
  })

  /**
   * Resolves once the request has been read. A request that was not read yet is not in flight, so closing may end its connection.
   */
  async function isAsked({ calls }: FrontUnderTest): Promise<void> {
    await vi.waitUntil(() => calls.includes('/gated'), { timeout: 20_000, interval: 5 })
  }

  it('does not wait for a connection that never sent a request', async () => {
    const { front } = under()
    const silent = await under().connect()
    // Once a later connection is served, the silent one has been accepted too.
    const asking = await under().connect()
    await asking.write(requestText({ target: '/echo' }, ''))
    await asking.answer()
    const startedMs = performance.now()
    await front.close(20_000)
    expect(performance.now() - startedMs).toBeLessThan(10_000)
    await silent.closed()
  })

  it('reports that a port is in use', async () => {
    const other = new FrontUnderTest(await create())
    await expect(other.front.listen('127.0.0.1', under().port)).rejects.toThrow(/in use/)
  })

  it('has a port that was chosen to itself', async () => {
    const port = await freePort()
    const [first, second, third] = [await create(), await create(), await create()].map(
      (each) => new FrontUnderTest(each).front,
    )
    await first!.listen('127.0.0.1', port)
    await expect(second!.listen('127.0.0.1', port)).rejects.toThrow(/in use/)
    await expect(third!.listen('127.0.0.1', port, true)).rejects.toThrow(/in use|cannot share/)
    await first!.close(500)
  })
}
