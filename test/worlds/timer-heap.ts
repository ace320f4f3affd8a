export interface Timer {
  readonly at: number;
  /** Two timers with the same time act in this order: the timer that was set first has the lower number. */
  readonly order: number;
  readonly act: () => void;
  /** Whether `act` settles no promise. */
  readonly isSilent: boolean;
  /** Whether the timer was cleared. */
  isOff: boolean;
}

const isEarlier = (one: Timer, other: Timer): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/** A binary heap that gives the earliest timer first. */
export function timerHeap() {
  const heap: Timer[] = [];
  const swap = (a: number, b: number) => {
    const [one, other] = [heap[a] as Timer, heap[b] as Timer];
    heap[a] = other;
    heap[b] = one;
  };
  return {
    add(timer: Timer): void {
      let at = heap.push(timer) - 1;
      while (at > 0) {
        const above = (at - 1) >> 1;
        if (!isEarlier(timer, heap[above] as Timer)) return;
        swap(at, above);
        at = above;
      }
    },
    take(): Timer | undefined {
      if (heap.length > 1) swap(0, heap.length - 1);
      const first = heap.pop();
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        let least = at;
        if (left < heap.length && isEarlier(heap[left] as Timer, heap[least] as Timer)) least = left;
        if (right < heap.length && isEarlier(heap[right] as Timer, heap[least] as Timer)) least = right;
        if (least === at) return first;
        swap(at, least);
        at = least;
      }
    },
  };
}
