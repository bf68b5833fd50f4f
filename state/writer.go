package state

// job is one write to the backend. Its parts are written in the order of the
// fields: the position says that all else is there.
type job struct {
	dropped  [][]byte // prefixes of windows whose rows go
	batch    Batch
	position []byte // nil: none
}

// deleteRows is how many keys of a dropped window are deleted at once.
const deleteRows = 4096

// writer writes jobs in its own goroutine, one at a time.
type writer struct {
	backend Backend
	jobs    chan *job
	results chan error
	ended   chan struct{}
}

func startWriter(b Backend) *writer {
	w := &writer{backend: b, jobs: make(chan *job), results: make(chan error, 1), ended: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) run() {
	defer close(w.ended)
	for j := range w.jobs {
		w.results <- w.write(j)
	}
}

// stop waits for the job in progress. Its result, if nobody took it, is lost.
func (w *writer) stop() {
	close(w.jobs)
	<-w.ended
}

func (w *writer) write(j *job) error {
	for _, prefix := range j.dropped {
		if err := deletePrefix(w.backend, prefix); err != nil {
			return err
		}
	}
	if j.batch.Len() > 0 {
		if err := w.backend.Write(&j.batch); err != nil {
			return err
		}
	}
	if j.position == nil {
		return nil
	}
	var last Batch
	last.Put(positionKey, j.position)
	return w.backend.Write(&last)
}

// deletePrefix deletes all keys that start with prefix.
func deletePrefix(b Backend, prefix []byte) error {
	from, end := prefix, PrefixEnd(prefix)
	for {
		var batch Batch
		err := b.Range(from, end, func(key, _ []byte) (bool, error) {
			if batch.Len() == deleteRows {
				from = append([]byte{}, key...)
				return false, nil
			}
			batch.Delete(key)
			return true, nil
		})
		if err != nil {
			return err
		}
		if batch.Len() == 0 {
			return nil
		}
		if err := b.Write(&batch); err != nil {
			return err
		}
		if batch.Len() < deleteRows {
			return nil
		}
	}
}
