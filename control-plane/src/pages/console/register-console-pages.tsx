import { signOut } from '@tollgate/domain/console/change-session'
import type { ApiServer } from '../../access/api-server.ts'
import { seeOther } from '../provider/provider-page.tsx'
import { registerConsoleApp } from './app-routes.ts'
import { registerCliPages, type CliPageParts } from './cli-routes.tsx'
import { signOutPath } from './signed-in-line.tsx'
import { clearSessionCookie, requireVisitor } from './console-session.ts'
import { registerSetPasswordPage } from './set-password-routes.tsx'
import { signInPath } from './paths.ts'
import { registerOpenidSignIn } from './openid-routes.tsx'
import type { ConsoleSignInParts } from './sign-in-parts.ts'
import { registerSignInPage } from './sign-in-routes.tsx'

export type ConsolePagesParts = CliPageParts & ConsoleSignInParts

/** Registers the console at `/console`, and the pages beside it that work without scripts. */
export function registerConsolePages(app: ApiServer, pages: ConsolePagesParts): void {
  app.post(signOutPath, { schema: { hide: true } }, async (request, reply) => {
    const { session } = await requireVisitor(pages, request)
    await signOut(pages.database, session)
    clearSessionCookie(pages, reply)
    return seeOther(reply, pages.basePath + signInPath)
  })

  registerSignInPage(app, pages)
  registerOpenidSignIn(app, pages)
  registerSetPasswordPage(app, pages)
  registerCliPages(app, pages)
  registerConsoleApp(app, pages)
}
