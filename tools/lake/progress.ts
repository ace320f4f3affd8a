import { type OnProgress, showProgress as showProgressOn } from '../../lib/terminal/progress.ts';

/** Says on stderr how far long work has come: a bar on a terminal, a line each ten seconds elsewhere. */
export const showProgress = (): OnProgress => showProgressOn(process.stderr);
