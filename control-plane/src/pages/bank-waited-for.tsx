import type { ReactElement } from 'react'

/**
 * What is not known before the bank has answered. A script looks again, and changes the page once there is something to
 * tell: one that reloads by itself would take it away from whoever is reading it.
 */
export function BankWaitedFor(): ReactElement {
  return (
    <>
      <p data-looks-again="yes">
        Your bank has not answered yet. You need not wait here: it goes on by itself.
      </p>
      <p>
        <a href="">Look again</a>
      </p>
    </>
  )
}
