import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;

/** A Hive metastore with the tables of its locks, which it does not create by itself: -p PORT. */
public class HiveMetastore {
    public static void main(String[] args) throws Throwable {
        TxnDbUtil.prepDb(new HiveConf());
        HiveMetaStore.main(args);
    }
}
