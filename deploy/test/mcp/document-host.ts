import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generate } from 'selfsigned'

/** Serves the metadata document of a client over TLS. */
export type DocumentHost = {
  readonly url: string
  /** File for `NODE_EXTRA_CA_CERTS` of processes that fetch the document. */
  readonly authorityFile: string
  content: object
  stop(): Promise<void>
}

export async function startDocumentHost(folder: string): Promise<DocumentHost> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  const authorityFile = join(folder, 'document-host.pem')
  await writeFile(authorityFile, cert)
  const server = createServer({ cert, key }, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(host.content))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const host: DocumentHost = {
    url: `https://127.0.0.1:${port}/client.json`,
    authorityFile,
    content: {},
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return host
}
