/** `npm run browser`: installs Chromium, unless there is one. */
import { tell } from '../../lane-fault.ts';
import { installBrowser } from './install-browser.ts';

try {
  await installBrowser();
} catch (error) {
  tell(error);
}
