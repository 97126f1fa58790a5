import type { IssuerProblem } from '../../customer-auth/create-provider.ts'
import { documentText } from '../html-document.tsx'
import { Page } from '../page.tsx'
import { readerOf } from '../reader.ts'
import { noForeignOrigins, securityHeaders } from '../security-headers.ts'
import { staticFilesOf } from '../static-files.ts'

/**
 * Returns a function that creates the page for a request that cannot be redirected back to its client, such as a request of an
 * unknown client. The page is at the address of an MCP server, and its files are at the hosted address.
 */
export function createIssuerProblemPage(hostedUrl: string) {
  const files = staticFilesOf(hostedUrl)
  const { origin } = new URL(hostedUrl)
  const headers = securityHeaders({ ...noForeignOrigins, files: [origin] })
  return (acceptLanguage: string | undefined, problem: IssuerProblem) => {
    const reader = readerOf(acceptLanguage)
    const frame = { ...reader, basePath: hostedUrl, files, merchant: undefined, isSandbox: false }
    const isTooMany = problem === 'too-many'
    const title = reader.t(isTooMany ? 'shared:tooManyAttemptsTitle' : 'signIn:invalidTitle')
    const html = documentText(
      <Page frame={frame} title={title} narrow>
        <div className="card centred">
          <h1>{title}</h1>
          <p>{reader.t(isTooMany ? 'shared:tooManyAttemptsText' : 'signIn:invalidText')}</p>
          {!isTooMany && (
            <p className="quiet" lang="en">
              {problem.invalid}
            </p>
          )}
        </div>
      </Page>,
    )
    return { html, headers }
  }
}
