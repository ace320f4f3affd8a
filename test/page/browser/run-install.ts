/** `npm run browser`: installs Chromium if the machine has none. */
import { tell } from '../../lane-fault.ts';
import { installBrowser } from './install-browser.ts';

try {
  await installBrowser();
} catch (error) {
  tell(error);
}
