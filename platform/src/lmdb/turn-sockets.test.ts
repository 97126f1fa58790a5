import { mkdtemp, rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TurnSockets } from './turn-sockets.ts'

it('finds those that listen in the folder and those that could not listen there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turns-'))
  const tokens = ['1', '2', '3'].map((digit) => digit.repeat(16)) as [string, string, string]
  const answering = (token: string) => (socket: { end(text: string): void }) => socket.end(token)
  const sockets = tokens.map(() => new TurnSockets(folder))
  const [inFolder, elsewhere, later] = sockets as [TurnSockets, TurnSockets, TurnSockets]
  const servers = [await inFolder.listen(tokens[0], answering(tokens[0]))]
  await rename(folder, `${folder}-moved`)
  servers.push(await elsewhere.listen(tokens[1], answering(tokens[1])))
  await rename(`${folder}-moved`, folder)
  servers.push(await later.listen(tokens[2], answering(tokens[2])))

  for (const each of sockets) {
    expect(each.list().sort()).toEqual(tokens)
    for (const token of tokens) {
      const [answer] = (await once(each.connect(token), 'data')) as [Buffer]
      expect(answer.toString()).toBe(token)
    }
  }
  for (const [index, each] of sockets.entries()) each.close(tokens[index]!)
  expect(later.list()).toEqual([])
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true })
})
