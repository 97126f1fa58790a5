import { expect, it } from 'vitest'
import { chooseFront, nodeFrontNotice } from './create-front.ts'
import { explainLoadError, UwsNotLoadableError } from './uws-load.ts'

const wrapped = (reason: string): Error =>
  new Error(`This version of uWS.js supports only Node.js versions …\n\nError: ${reason}`)

it('names the C library that the binary needs, the cost of node:http and the systems that run the native front', () => {
  const error = explainLoadError(
    wrapped(
      "/lib/libc.so.6: version `GLIBC_2.38' not found (required by /a/uws_linux_x64_137.node)",
    ),
  )
  expect(error.neededGlibc).toBe('2.38')
  const notice = nodeFrontNotice(error)
  expect(notice).toMatch(
    /node:http, because the uWebSockets.js binary for Node \d+ needs glibc 2.38/,
  )
  expect(notice).toMatch(/costs .* run on a system with glibc 2\.38 .* or on Node 20\.$/)
  expect(notice).not.toContain('\n')
})

it("gives the loader's reason for any other error", () => {
  const error = explainLoadError(wrapped('Error relocating /a/uws.node: fcntl64: symbol not found'))
  expect(error.neededGlibc).toBeUndefined()
  expect(error.message).toBe(
    'uWebSockets.js did not load (Error: Error relocating /a/uws.node: fcntl64: symbol not found)',
  )
  expect(nodeFrontNotice(error)).toMatch(/symbol not found\).* run on Linux with glibc/)
})

it('chooses node:http without a notice if it is configured', async () => {
  const { notice } = await chooseFront({ front: 'node', uwsBinary: 'pinned' })
  expect(notice).toBeUndefined()
})

it('gives a notice only on systems on which the native front does not load', async () => {
  const chosen = await chooseFront({ front: 'auto', uwsBinary: 'pinned' })
  const native = chooseFront({ front: 'uws', uwsBinary: 'pinned' })
  if (chosen.notice === undefined) expect((await native).notice).toBeUndefined()
  else await expect(native).rejects.toThrow(UwsNotLoadableError)
})
