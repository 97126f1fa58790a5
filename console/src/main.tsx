import { MantineProvider } from '@mantine/core'
import '@mantine/core/styles.css'
import { Notifications } from '@mantine/notifications'
import '@mantine/notifications/styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiProblem } from './api/problem.ts'
import './frame/motion.css'
import { router } from './frame/router.tsx'
import { reloadAfterUpgrade } from './frame/reload-after-upgrade.ts'
import { cssVariablesResolver, theme } from './frame/theme.ts'

/** Nonce of the page's policy. Libraries that add style elements must give it to them. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce)

reloadAfterUpgrade()

const root = createRoot(document.getElementById('console')!, {
  // The page shows a refusal of the API in its place, so the browser console need not report it.
  onCaughtError: (error) => {
    if (!(error instanceof ApiProblem)) console.error(error)
  },
})

root.render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <Notifications />
      <RouterProvider router={router} />
    </MantineProvider>
  </StrictMode>,
)
