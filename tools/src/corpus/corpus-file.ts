import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import type { Exchange } from './exchange.ts'

/* A corpus is a file of JSON lines, one for each exchange, compressed with Brotli. */

export async function writeCorpus(path: string, exchanges: readonly Exchange[]): Promise<void> {
  const text = exchanges.map((exchange) => `${JSON.stringify(exchange)}\n`).join('')
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  }
  await writeFile(path, await promisify(brotliCompress)(text, { params }))
}

export async function readCorpus(path: string): Promise<Exchange[]> {
  const text = (await promisify(brotliDecompress)(await readFile(path))).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exchange)
}
