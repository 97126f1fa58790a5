import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NoAnswerError, OpeningTurn } from './opening-turn.ts'

let folder: string
let taken: OpeningTurn[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turn-'))
  taken = []
})
afterEach(async () => {
  for (const turn of taken) await turn.leave()
  await rm(folder, { recursive: true, force: true })
})

async function take(answerWithinMs = 10_000): Promise<OpeningTurn> {
  const turn = await OpeningTurn.take({ folder, answerWithinMs })
  taken.push(turn)
  return turn
}

describe('a turn to open', () => {
  it('is given to one at a time, however many ask at once', async () => {
    let opening = 0
    let openingMax = 0
    const open = async () => {
      const turn = await take()
      opening += 1
      openingMax = Math.max(openingMax, opening)
      await sleep(Math.random() * 5)
      opening -= 1
      turn.end()
    }
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 6 }, open))
    }
    expect(openingMax).toBe(1)
  })

  it('begins after the commits of the others that are running, and none starts before it ends', async () => {
    const other = await take()
    other.end()
    const done: string[] = []
    let finish!: () => void
    const running = other.gate.run(() => new Promise<void>((resolve) => (finish = resolve)))
    const asked = take().then((turn) => {
      done.push('opened')
      return turn
    })
    await sleep(50)
    const later = other.gate.run(() => Promise.resolve(done.push('later commit')))
    await sleep(50)
    done.push('commit')
    finish()
    await running
    const turn = await asked
    await sleep(50)
    turn.end()
    await later
    expect(done).toEqual(['commit', 'opened', 'later commit'])
  })

  it('begins while no other commits, even if that one came later and opened first', async () => {
    for (let round = 0; round < 20; round += 1) {
      const other = await take()
      other.end()
      let finish!: () => void
      const running = other.gate.run(() => new Promise<void>((resolve) => (finish = resolve)))
      const opening: string[] = []
      const open = async (name: string) => {
        const turn = await take()
        opening.push(name)
        // The commit of the one that opened first would run while the second one opens.
        await sleep(10)
        opening.splice(opening.indexOf(name), 1)
        turn.end()
        await turn.gate.run(async () => {
          expect(opening).toEqual([])
          await sleep(3)
          expect(opening).toEqual([])
        })
        return turn
      }
      const first = open('first')
      // The first one has listed the others by now and waits for a commit.
      await sleep(10)
      const second = open('second')
      await sleep(10)
      finish()
      await running
      for (const turn of [other, await first, await second]) await turn.leave()
    }
  })

  it('is not delayed by one that has left or died', async () => {
    const other = await take()
    other.end()
    await other.leave()
    const dead = createServer()
    const path = join(folder, `turn-${'0'.repeat(16)}.sock`)
    await new Promise<void>((resolve) => {
      dead.listen(path, resolve)
    })
    // Closing removes the file, but a killed process leaves it.
    await rename(path, `${path}-kept`)
    await new Promise((resolve) => dead.close(resolve))
    await rename(`${path}-kept`, path)
    await take(1_000)
  })

  it('waits for one that could not take the first connections', async () => {
    let connections = 0
    const busy = createServer((socket) => {
      connections += 1
      if (connections < 3) socket.destroy()
      else socket.resume().write('h')
    })
    await new Promise<void>((resolve) => {
      busy.listen(join(folder, `turn-${'f'.repeat(16)}.sock`), resolve)
    })
    const turn = await take()
    expect(connections).toBe(3)
    turn.end()
    await new Promise((resolve) => busy.close(resolve))
  })

  it('is refused if one does not answer', async () => {
    const hanging = createServer((socket) => socket.resume())
    await new Promise<void>((resolve) => {
      hanging.listen(join(folder, `turn-${'f'.repeat(16)}.sock`), resolve)
    })
    await expect(take(100)).rejects.toThrow(NoAnswerError)
    // It has left, so the next one waits only for the one that hangs.
    expect(await readdir(folder)).toHaveLength(1)
    await new Promise((resolve) => hanging.close(resolve))
    await take(1_000)
  })

  it('is given in a folder whose path is too long for a socket', async () => {
    folder = join(folder, 'x'.repeat(120))
    await mkdir(folder)
    const other = await take()
    let isOpen = false
    const next = take().then(() => (isOpen = true))
    await sleep(50)
    expect(isOpen).toBe(false)
    other.end()
    await next
    expect(await readdir(folder)).toHaveLength(2)
  })
})
