import type { Step } from '@tollgate/control-plane/pages/front/first-steps'
import type { Credentials } from './credentials.ts'

export type Welcome = {
  readonly credentials: Credentials
  readonly mcpUrl: string
  readonly steps: readonly Step[]
  readonly dataDir: string
  readonly startedInMs: number
}

/** Returns the text that a start prints. A test runs its commands through a shell. */
export function welcomeText({ credentials, mcpUrl, steps, dataDir, startedInMs }: Welcome): string {
  const { baseUrl, sandboxKey, liveKey, productRef } = credentials
  const commands = steps.map(
    ({ title, note, command }, at) => `${at + 1}. ${title}. ${note}\n  ${command}\n`,
  )
  return `
Tollgate runs at ${baseUrl} (started in ${(startedInMs / 1000).toFixed(1)} s, data in ${dataDir})

  in a browser   ${baseUrl}/
  API reference  ${baseUrl}/docs
  MCP proxy      ${mcpUrl}
  sandbox key    ${sandboxKey}
  live key       ${liveKey}
  product        ${productRef}

${commands.join('\n')}
Ctrl-C stops it; the data stays. In another terminal: npm run demo
`
}
