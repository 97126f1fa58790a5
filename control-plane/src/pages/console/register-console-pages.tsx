import { signOut } from '@tollgate/domain/console/change-session'
import type { ApiServer } from '../../access/api-server.ts'
import { requireProvider } from '../../access/require.ts'
import { seeOther, sendProviderPage } from '../provider/provider-page.tsx'
import { registerCliPages, type CliPageParts } from './cli-routes.tsx'
import { ConsoleHomePage, signOutPath } from './console-home-page.tsx'
import { clearSessionCookie, consolePath, findVisitor, requireVisitor } from './console-session.ts'
import { registerSetPasswordPage } from './set-password-routes.tsx'
import { signInPath } from './sign-in-page.tsx'
import { registerSignInPage, type ConsoleSignInParts } from './sign-in-routes.tsx'

export type ConsolePagesParts = CliPageParts & ConsoleSignInParts

/** Registers pages for the links to `/console/...`, until the console itself serves these paths. */
export function registerConsolePages(app: ApiServer, pages: ConsolePagesParts): void {
  app.get(consolePath, { schema: { hide: true } }, async (request, reply) => {
    const visitor = await findVisitor(pages, request)
    if (visitor === undefined) return seeOther(reply, pages.basePath + signInPath)
    const provider = await requireProvider(pages, visitor.session)
    const page = <ConsoleHomePage frame={pages} visitor={visitor} provider={provider} />
    return sendProviderPage(reply, 200, page)
  })

  app.post(signOutPath, { schema: { hide: true } }, async (request, reply) => {
    const { session } = await requireVisitor(pages, request)
    await signOut(pages.database, session)
    clearSessionCookie(pages, reply)
    return seeOther(reply, pages.basePath + signInPath)
  })

  registerSignInPage(app, pages)
  registerSetPasswordPage(app, pages)
  registerCliPages(app, pages)
}
